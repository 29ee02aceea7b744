/* SPDX-License-Identifier: MIT */
/*
 * perf_map_test.c -- perf maps: overlapping lines against a plain loop that
 * cannot be wrong, what runtimes call their functions, and files that must not
 * be used.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "symbol/perf_map.h"

#define LINES 300
#define SPACE 500
#define SECOND 1000000000ull

static char directory[] = "/tmp/perf_map_test.XXXXXX";

static uint32_t
next_random(void)
{
    static uint64_t seed = 11;
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33);
}

static const char *
in_directory(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return path;
}

static void
write_file(const char *path, const char *text, size_t length)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, length), length);
    close(fd);
}

/* The map of TEXT, from a file that is gone afterwards. */
static struct perf_map *
parse(const char *text)
{
    const char *path = in_directory("map");
    write_file(path, text, strlen(text));
    struct perf_map *map = perf_map_open(path, 0, UINT64_MAX);
    assert_non_null(map);
    assert_null(perf_map_problem(map));
    unlink(path);
    return map;
}

/* Of all lines that cover an address, the last one names it. */
static void
the_last_line_that_covers_an_address_names_it(void **state)
{
    size_t length = 0;
    (void)state;
    uint64_t low[LINES], high[LINES];
    char text[LINES * 64];
    for (unsigned i = 0; i < LINES; i++) {
        low[i] = next_random() % SPACE;
        high[i] = low[i] + 1 + next_random() % (i % 10 != 0 ? 8 : SPACE);
        length += (size_t)sprintf(text + length, "%llx %llx f%u\n",
                                  (unsigned long long)low[i],
                                  (unsigned long long)(high[i] - low[i]), i);
    }
    struct perf_map *map = parse(text);
    for (uint64_t address = 0; address < 2 * SPACE + 2; address++) {
        const struct symbol *symbol = perf_map_find(map, address);
        char expected[16] = "";
        for (unsigned i = 0; i < LINES; i++)
            if (low[i] <= address && address < high[i])
                sprintf(expected, "f%u", i);
        assert_string_equal(symbol ? symbol->frames[0].function : "", expected);
    }
    perf_map_close(map);
}

/* Equal functions are one symbol, the end is not part of it, and lines that
 * make no sense are ignored. */
static void
lines_become_symbols(void **state)
{
    static const char text[] =
        "0x00007f0000001000 0x0000000000000100 long T.work(long)\n"
        "1000 100 a\n"
        "nonsense\n\n \n1 2\n1 2 \n-5 6 x\n+7 8 x\n0x 4 x\n5 0x x\n"
        "fffffffffffffff0 20 beyond the end\n"
        "11112222333344445 1 too large\n"
        "2000 0 empty\n"
        "ABC0 10 capitals\n"
        "3000 10 not ended";
    (void)state;
    struct perf_map *map = parse(text);
    const struct symbol *symbol = perf_map_find(map, 0x7f0000001000);
    assert_non_null(symbol);
    assert_true(symbol->named);
    assert_int_equal(symbol->count, 1);
    assert_string_equal(symbol->frames[0].function, "long T.work(long)");
    assert_string_equal(symbol->frames[0].file, "");
    assert_ptr_equal(perf_map_find(map, 0x7f00000010ff), symbol);
    assert_null(perf_map_find(map, 0x7f0000001100));
    assert_null(perf_map_find(map, 0x7f0000000fff));
    assert_non_null(perf_map_find(map, 0x10ff));
    assert_non_null(perf_map_find(map, 0xabc5));
    for (uint64_t address = 0; address < 0x100; address++)
        assert_null(perf_map_find(map, address));
    assert_null(perf_map_find(map, 0x2000));
    assert_null(perf_map_find(map, 0x3000));
    assert_null(perf_map_find(map, UINT64_MAX));
    assert_null(perf_map_find(map, UINT64_MAX - 14));
    assert_null(perf_map_problem(map));
    perf_map_close(map);
}

/* NAME is shown as FUNCTION, which begins in LINE of FILE. */
static void
expect_name(const char *name, const char *function, const char *file,
            unsigned line)
{
    char text[256];
    snprintf(text, sizeof text, "1000 10 %s\n", name);
    struct perf_map *map = parse(text);
    const struct symbol *symbol = perf_map_find(map, 0x1000);
    assert_non_null(symbol);
    assert_string_equal(symbol->frames[0].function, function);
    assert_string_equal(symbol->frames[0].linkage, name);
    assert_string_equal(symbol->frames[0].file, file);
    assert_int_equal(symbol->frames[0].start_line, line);
    assert_int_equal(symbol->frames[0].line, 0);
    perf_map_close(map);
}

static void
names_are_as_in_their_lines(void **state)
{
    (void)state;
    expect_name("JS:*leaf /tmp/t.js:1:14", "leaf", "/tmp/t.js", 1);
    expect_name("JS:^get size /a dir/t.js:70:3", "get size", "/a dir/t.js", 70);
    expect_name("JS:~writeSync node:fs:898:19", "writeSync", "node:fs", 898);
    expect_name("JS:*run file:///x/m.mjs:2:1", "run", "file:///x/m.mjs", 2);
    expect_name("LazyCompile:~f t.js:12", "f", "t.js", 12);
    expect_name("JS:* /tmp/t.js:7:9", "(anonymous t.js:7:9)", "/tmp/t.js", 7);
    expect_name("JS:*odd", "JS:*odd", "", 0);
    expect_name("JS:", "JS:", "", 0);
    expect_name("JS:* :1:2", "(anonymous :1:2)", "", 1);
    expect_name("JS:*f /t.js:99999999999999999999:1", "f", "/t.js", 1);
    expect_name("py::Outer.leaf:/tmp/t.py", "t.Outer.leaf", "/tmp/t.py", 0);
    expect_name("py::<module>:<string>", "<string>.<module>", "<string>", 0);
    expect_name("py::", "py::", "", 0);
    expect_name("TRACE_7::t.lua:12", "TRACE_7::t.lua:12", "t.lua", 12);
    expect_name("TRACE_7", "TRACE_7", "", 0);
    expect_name("Lcom/foo/Bar;::baz", "com.foo.Bar.baz", "", 0);
    expect_name("Lua", "Lua", "", 0);
    expect_name("Builtin:ArrayMap", "Builtin:ArrayMap", "", 0);
    expect_name("long T.work(long)", "long T.work(long)", "", 0);
}

/* A name without an end is cut. */
static void
a_name_without_an_end_is_cut(void **state)
{
    size_t length = 1u << 20;
    char *text = calloc(length + 1, 1);
    (void)state;
    memset(text, 'x', length);
    memcpy(text, "10 10 ", 6);
    text[length - 1] = '\n';
    struct perf_map *map = parse(text);
    assert_int_equal(strlen(perf_map_find(map, 16)->frames[0].function), 4096);
    perf_map_close(map);
    free(text);
}

/* PATH is used if WORD is NULL, else there is a problem that has WORD. */
static void
expect_file(const char *path, uint64_t start, uint64_t end, const char *word)
{
    struct perf_map *map = perf_map_open(path, start, end);
    assert_non_null(map);
    if (word == NULL) {
        assert_null(perf_map_problem(map));
        assert_non_null(perf_map_find(map, 0x1000));
    } else {
        assert_null(perf_map_find(map, 0x1000));
        assert_non_null(perf_map_problem(map));
        assert_non_null(strstr(perf_map_problem(map), word));
    }
    perf_map_close(map);
}

static void
only_files_of_the_process_are_used(void **state)
{
    uint64_t now = (uint64_t)time(NULL) * SECOND, before = now - 10 * SECOND;
    (void)state;
    const char *path = in_directory("map");
    write_file(path, "1000 10 f\n", 10);
    expect_file(path, before, now, NULL);
    expect_file(path, now, now + SECOND, NULL);
    expect_file(path, now + 100 * SECOND, now + 200 * SECOND, "older");
    expect_file(path, before - 200 * SECOND, now - 100 * SECOND, "ended");
    char link[128];
    snprintf(link, sizeof link, "%s/link", directory);
    assert_int_equal(symlink(path, link), 0);
    expect_file(link, before, now, "not used");
    if (geteuid() == 0) {
        assert_int_equal(chown(path, 12345, 12345), 0);
        expect_file(path, before, now, "belongs to user 12345");
    }
    unlink(path);
    unlink(link);
    assert_int_equal(mkfifo(link, 0600), 0);
    expect_file(link, before, now, "no regular file");
    unlink(link);
    expect_file(directory, before, now + SECOND, "no regular file");
}

/* A missing file is no problem. */
static void
a_missing_file_is_no_problem(void **state)
{
    struct perf_map *map = perf_map_open(in_directory("none"), 0, UINT64_MAX);
    (void)state;
    assert_non_null(map);
    assert_null(perf_map_problem(map));
    assert_null(perf_map_find(map, 0));
    perf_map_close(map);
    perf_map_close(NULL);
}

static int
make_directory(void **state)
{
    (void)state;
    return mkdtemp(directory) != NULL ? 0 : -1;
}

static int
remove_directory(void **state)
{
    (void)state;
    return rmdir(directory);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_line_that_covers_an_address_names_it),
        cmocka_unit_test(lines_become_symbols),
        cmocka_unit_test(names_are_as_in_their_lines),
        cmocka_unit_test(a_name_without_an_end_is_cut),
        cmocka_unit_test(only_files_of_the_process_are_used),
        cmocka_unit_test(a_missing_file_is_no_problem),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
