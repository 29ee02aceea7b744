/* SPDX-License-Identifier: MIT */
/*
 * answer_cache_test.c -- answers that are kept between reports: what was added
 * comes back, a damaged file is treated as if it were missing, and no file of
 * another user is read.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "shell.h"
#include "symbol/answer_cache.h"

#define LIMIT 8

static const uint8_t build_id[] = {0xab, 0xcd, 0xef, 1, 2, 3, 4, 5};
static char directory[64], path[128];

static struct answer_cache *
open_cache(void)
{
    return answer_cache_open(build_id, sizeof(build_id));
}

static void
add_as(struct answer_cache *cache, unsigned flags, uint64_t address,
       const char *name)
{
    struct unit_frame frames[] = {
        {.name = "inlined", .directory = "/src", .file = "a.c", .line = 7},
        {.name = name, .file = "b.c", .line = 3, .start_line = 1}};
    const struct image_answer answer = {.symbol = name,
                                        .start = address - 4,
                                        .count = 2,
                                        .frames = frames};
    answer_cache_add(cache, flags, address, &answer);
}

static void
add(struct answer_cache *cache, uint64_t address, const char *name)
{
    add_as(cache, SYMBOLIZER_LINES | SYMBOLIZER_SYMBOLS, address, name);
}

static void
expect(const struct answer_cache *cache, uint64_t address, const char *name)
{
    struct unit_frame frames[LIMIT];
    struct image_answer answer = {.frames = frames};

    assert_true(answer_cache_find(cache, address, &answer, LIMIT));
    assert_string_equal(answer.symbol, name);
    assert_int_equal(answer.start, address - 4);
    assert_false(answer.is_stub);
    assert_int_equal(answer.count, 2);
    assert_string_equal(frames[0].name, "inlined");
    assert_string_equal(frames[0].directory, "/src");
    assert_int_equal(frames[0].line, 7);
    assert_string_equal(frames[1].name, name);
    assert_null(frames[1].directory);
    assert_string_equal(frames[1].file, "b.c");
    assert_int_equal(frames[1].start_line, 1);
}

static bool
knows(const struct answer_cache *cache, uint64_t address)
{
    struct unit_frame frames[LIMIT];
    struct image_answer answer = {.frames = frames};

    return answer_cache_find(cache, address, &answer, LIMIT);
}

/* Fill the file with two answers, of an image with lines. */
static void
fill(void)
{
    struct answer_cache *cache = open_cache();

    assert_non_null(cache);
    add(cache, 0x2000, "second");
    add(cache, 0x1000, "first");
    assert_false(knows(cache, 0x1000)); /* The next cache knows it. */
    answer_cache_close(cache);
}

static int
begin(void **state)
{
    (void)state;
    strcpy(directory, "/tmp/sprof-cache-XXXXXX");
    if (mkdtemp(directory) == NULL)
        return -1;
    snprintf(path, sizeof(path), "%s/abcdef0102030405.names", directory);
    return setenv("SPROF_CACHE", directory, 1);
}

static int
end(void **state)
{
    (void)state;
    return shell_remove(directory);
}

static int
remove_file(void **state)
{
    (void)state;
    (void)unlink(path);
    return 0;
}

static void
what_was_added_comes_back(void **state)
{
    (void)state;
    fill();
    struct answer_cache *cache = open_cache();
    expect(cache, 0x1000, "first");
    expect(cache, 0x2000, "second");
    assert_false(knows(cache, 0x1001));
    assert_int_equal(answer_cache_flags(cache),
                     SYMBOLIZER_LINES | SYMBOLIZER_SYMBOLS);
    answer_cache_close(cache);
}

static void
later_answers_join_the_earlier_ones(void **state)
{
    (void)state;
    fill();
    struct answer_cache *cache = open_cache();
    add(cache, 0x1800, "between");
    answer_cache_close(cache);
    cache = open_cache();
    expect(cache, 0x1000, "first");
    expect(cache, 0x1800, "between");
    expect(cache, 0x2000, "second");
    answer_cache_close(cache);
}

static void
an_address_that_is_added_again_stays_one(void **state)
{
    (void)state;
    fill();
    struct answer_cache *cache = open_cache();
    add(cache, 0x1000, "first");
    add(cache, 0x1000, "first");
    answer_cache_close(cache);
    cache = open_cache();
    expect(cache, 0x1000, "first");
    expect(cache, 0x2000, "second");
    answer_cache_close(cache);
}

static void
too_many_frames_are_no_answer(void **state)
{
    struct unit_frame frame;
    struct image_answer answer = {.frames = &frame};

    (void)state;
    fill();
    struct answer_cache *cache = open_cache();
    assert_false(answer_cache_find(cache, 0x1000, &answer, 1));
    answer_cache_close(cache);
}

/* Without lines, a later report looks again when there may be better files. */
static void
answers_without_lines_end_with_a_server(void **state)
{
    (void)state;
    struct answer_cache *cache = open_cache();
    add_as(cache, SYMBOLIZER_SYMBOLS, 0x1000, "first");
    answer_cache_close(cache);
    cache = open_cache();
    expect(cache, 0x1000, "first");
    answer_cache_close(cache);
    setenv("DEBUGINFOD_URLS", "http://127.0.0.1:1", 1);
    cache = open_cache();
    assert_false(knows(cache, 0x1000));
    answer_cache_close(cache);
    unsetenv("DEBUGINFOD_URLS");
}

static void
write_bytes(const uint8_t *bytes, size_t size)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

/* Every byte is changed once, and the file is cut at every length. */
static void
a_damaged_file_is_none(void **state)
{
    static uint8_t bytes[4096];

    (void)state;
    fill();
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t size = fread(bytes, 1, sizeof(bytes), file);
    fclose(file);
    assert_in_range(size, 100, sizeof(bytes) - 1);
    for (size_t i = 0; i < size; i++) {
        bytes[i] ^= 0x55;
        write_bytes(bytes, size);
        struct answer_cache *cache = open_cache();
        /* The flags alone are not in the checksum. */
        assert_true(!knows(cache, 0x1000) || (i >= 16 && i < 20));
        answer_cache_close(cache);
        bytes[i] ^= 0x55;
        write_bytes(bytes, i);
        cache = open_cache();
        assert_false(knows(cache, 0x1000));
        answer_cache_close(cache);
    }
}

static void
a_link_is_not_followed(void **state)
{
    char elsewhere[128];

    (void)state;
    fill();
    snprintf(elsewhere, sizeof(elsewhere), "%s/elsewhere", directory);
    assert_int_equal(rename(path, elsewhere), 0);
    assert_int_equal(symlink(elsewhere, path), 0);
    struct answer_cache *cache = open_cache();
    assert_false(knows(cache, 0x1000));
    answer_cache_close(cache);
}

/* A file beyond RLIMIT_FSIZE would end the process. */
static void
a_file_beyond_the_limit_is_not_written(void **state)
{
    struct rlimit before, limit;

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = before;
    limit.rlim_cur = 64;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    fill();
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_not_equal(access(path, F_OK), 0);
}

/* Which directory is used is decided once a process. Returns whether one is. */
static bool
is_used_with(const char *variable, const char *value)
{
    pid_t child = fork();

    if (child == 0) {
        setenv(variable, value, 1);
        _exit(open_cache() != NULL ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WEXITSTATUS(status) == 0;
}

static void
directories_of_others_are_not_used(void **state)
{
    char inner[128];

    (void)state;
    snprintf(inner, sizeof(inner), "%s/inner", directory);
    assert_true(is_used_with("SPROF_CACHE", inner)); /* It is made. */
    assert_int_equal(chmod(inner, 0777), 0);
    assert_false(is_used_with("SPROF_CACHE", inner));
    assert_int_equal(chmod(inner, 0700), 0);
    assert_true(is_used_with("SPROF_CACHE", inner));
    assert_false(is_used_with("SPROF_CACHE", "off"));
    assert_false(is_used_with("SPROF_CACHE", "/proc/none/here"));
    if (geteuid() == 0) {
        assert_int_equal(chown(inner, 12345, -1), 0);
        assert_false(is_used_with("SPROF_CACHE", inner));
    }
    unsetenv("SPROF_CACHE");
    assert_true(is_used_with("XDG_CACHE_HOME", directory));
    snprintf(inner, sizeof(inner), "%s/sprof", directory);
    assert_int_equal(access(inner, F_OK), 0);
}

int
main(void)
{
    /* The directory is chosen once: the last test asks in processes of its
     * own, before this process has chosen. */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(directories_of_others_are_not_used,
                                        begin, end),
        cmocka_unit_test_setup(what_was_added_comes_back, remove_file),
        cmocka_unit_test_setup(later_answers_join_the_earlier_ones,
                               remove_file),
        cmocka_unit_test_setup(an_address_that_is_added_again_stays_one,
                               remove_file),
        cmocka_unit_test_setup(too_many_frames_are_no_answer, remove_file),
        cmocka_unit_test_setup(answers_without_lines_end_with_a_server,
                               remove_file),
        cmocka_unit_test_setup(a_damaged_file_is_none, remove_file),
        cmocka_unit_test_setup(a_file_beyond_the_limit_is_not_written,
                               remove_file),
        cmocka_unit_test_setup(a_link_is_not_followed, remove_file)};
    const struct CMUnitTest first[] = {tests[0]};

    return cmocka_run_group_tests_name("directory", first, NULL, NULL) +
           _cmocka_run_group_tests("answers", tests + 1,
                                   sizeof(tests) / sizeof(tests[0]) - 1, begin,
                                   end);
}
