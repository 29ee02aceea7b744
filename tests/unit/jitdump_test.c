/* SPDX-License-Identifier: MIT */
/*
 * jitdump_test.c -- jitdumps: ranges in time against a plain loop that cannot
 * be wrong; loads, moves and lines; files that are cut, damaged, of another
 * process, or must not be used.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "shell.h"
#include "symbol/generated_code.h"
#include "symbol/jitdump.h"
#include "symbol/time_index.h"

#define RANGES 200
#define SPACE 300
#define SECOND 1000000000ull

#define PID 4711u
#define V8_SHIFT 0x40u

static char directory[] = "/tmp/jitdump_test.XXXXXX";

/* A jitdump that is being made. */
static unsigned char bytes[1 << 16];
static size_t length;

static uint32_t
next_random(void)
{
    static uint64_t seed = 17;
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33);
}

static void
put(const void *part, size_t size)
{
    assert_true(length + size <= sizeof bytes);
    memcpy(bytes + length, part, size);
    length += size;
}

static void
put_words(unsigned count, const uint64_t *words)
{
    put(words, count * sizeof *words);
}

static void
begin_file(uint32_t pid, uint64_t time, uint64_t flags)
{
    const uint32_t header[6] = {0x4a695444, 1, 40, 62, 0, pid};
    length = 0;
    put(header, sizeof header);
    put_words(2, (const uint64_t[]){time, flags});
}

static void
put_head(uint32_t kind, size_t size, uint64_t time)
{
    put((const uint32_t[]){kind, (uint32_t)(size + 16)}, 8);
    put_words(1, &time);
}

static void
put_load(const char *name, uint64_t address, uint64_t size, uint64_t time)
{
    put_head(0, 40 + strlen(name) + 1 + 8, time);
    put((const uint32_t[]){PID, PID}, 8);
    put_words(4, (const uint64_t[]){address, address, size, 0});
    put(name, strlen(name) + 1);
    put("\x90\x90\x90\x90\x90\x90\x90\x90", 8);
}

static void
put_move(uint64_t from, uint64_t to, uint64_t size, uint64_t time)
{
    put_head(1, 48, time);
    put((const uint32_t[]){PID, PID}, 8);
    put_words(5, (const uint64_t[]){to, from, to, size, 0});
}

/* Two lines: FIRST from the beginning on, SECOND from 8 bytes after it on. */
static void
put_lines(uint64_t address, uint64_t shift, int first, int second)
{
    put_head(2, 16 + 16 + sizeof "/a.js" + 16 + 2, 0);
    put_words(2, (const uint64_t[]){address, 2});
    put_words(1, (const uint64_t[]){address + shift});
    put((const int32_t[]){first, 0}, 8);
    put("/a.js", sizeof "/a.js");
    put_words(1, (const uint64_t[]){address + shift + 8});
    put((const int32_t[]){second, 0}, 8);
    put("\xff", 2);
}

static const char *
in_directory(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return path;
}

/* Write the first SIZE bytes. */
static void
write_file(const char *path, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, size), size);
    close(fd);
}

static const struct jitdump_process self = {.pid = PID, .monotonic = 1000};

/* The dump of the first SIZE bytes, from a file that is gone afterwards. */
static struct jitdump *
open_cut(size_t size)
{
    const char *path = in_directory("dump");
    write_file(path, size);
    struct jitdump *dump = jitdump_open(path, &self, 1000);
    assert_non_null(dump);
    unlink(path);
    return dump;
}

static struct jitdump *
open_all(void)
{
    struct jitdump *dump = open_cut(length);
    assert_null(jitdump_problem(dump));
    return dump;
}

/* What lies at ADDRESS at TIME: its name, "" if nothing does. */
static const char *
name_at(struct jitdump *dump, uint64_t address, uint64_t time)
{
    uint64_t since;
    uint32_t code = jitdump_find(dump, address, time, &since);
    const struct symbol *symbol =
        code != TIME_INDEX_NONE ? jitdump_symbol(dump, code, address) : NULL;
    return symbol != NULL ? symbol->frames[0].function : "";
}

static unsigned
line_at(struct jitdump *dump, uint64_t address, uint64_t time)
{
    uint64_t since;
    uint32_t code = jitdump_find(dump, address, time, &since);
    assert_int_not_equal(code, TIME_INDEX_NONE);
    const struct symbol *symbol = jitdump_symbol(dump, code, address);
    assert_ptr_equal(symbol, jitdump_symbol(dump, code, address));
    if (symbol->frames[0].line != 0)
        assert_string_equal(symbol->frames[0].file, "/a.js");
    return symbol->frames[0].line;
}

/* Of the ranges that cover ADDRESS, the last one that began by TIME; before
 * all, the first. */
static uint32_t
find_slowly(const struct time_range *ranges, uint64_t address, uint64_t time)
{
    uint32_t latest = TIME_INDEX_NONE, first = TIME_INDEX_NONE;
    for (uint32_t i = 0; i < RANGES; i++) {
        const struct time_range *range = &ranges[i];
        if (address < range->low || address >= range->high)
            continue;
        if (range->time <= time &&
            (latest == TIME_INDEX_NONE || range->time >= ranges[latest].time))
            latest = i;
        if (first == TIME_INDEX_NONE || range->time < ranges[first].time)
            first = i;
    }
    return latest != TIME_INDEX_NONE ? latest : first;
}

static void
the_last_range_by_a_time_holds_an_address(void **state)
{
    struct time_range ranges[RANGES];
    struct time_index index = {0};
    (void)state;
    for (unsigned i = 0; i < RANGES; i++) {
        ranges[i].low = next_random() % SPACE;
        ranges[i].high =
            ranges[i].low + 1 + next_random() % (i % 10 != 0 ? 8 : SPACE);
        ranges[i].time = next_random() % 50;
    }
    assert_int_equal(time_index_make(&index, ranges, RANGES), 0);
    for (uint64_t address = 0; address < 2 * SPACE + 2; address++) {
        unsigned count = 0;
        for (unsigned i = 0; i < RANGES; i++)
            count += address >= ranges[i].low && address < ranges[i].high;
        assert_int_equal(time_index_has_several(&index, address), count > 1);
        for (uint64_t time = 0; time < 52; time++)
            assert_int_equal(time_index_find(&index, address, time),
                             find_slowly(ranges, address, time));
    }
    time_index_clear(&index);
    assert_int_equal(time_index_find(&index, 1, 1), TIME_INDEX_NONE);
}

static void
names_hold_from_their_times_on(void **state)
{
    (void)state;
    begin_file(PID, 1000, 0);
    put_load("JS:*one /t.js:3:7", 0x5000, 0x100, 2000);
    put_load("two", 0x5080, 0x100, 3000);
    put_head(7, 100, 3500); /* a kind of later versions */
    put(bytes, 100);
    put_load("three", 0x5000, 0x40, 4000);
    put_head(3, 0, 5000);
    struct jitdump *dump = open_all();
    assert_string_equal(name_at(dump, 0x5000, 0), "one");
    assert_string_equal(name_at(dump, 0x5000, 3999), "one");
    assert_string_equal(name_at(dump, 0x5000, 4000), "three");
    assert_string_equal(name_at(dump, 0x5040, 9000), "one");
    assert_string_equal(name_at(dump, 0x5080, 2999), "one");
    assert_string_equal(name_at(dump, 0x5080, 3000), "two");
    assert_string_equal(name_at(dump, 0x517f, 0), "two");
    assert_string_equal(name_at(dump, 0x5180, 9000), "");
    assert_string_equal(name_at(dump, 0x4fff, 9000), "");
    assert_true(jitdump_has_several(dump, 0x5080));
    assert_false(jitdump_has_several(dump, 0x5100));
    jitdump_close(dump);
}

static void
moved_code_keeps_its_name_and_lines(void **state)
{
    (void)state;
    begin_file(PID, 1000, 0);
    put_lines(0x5000, 0, 10, 20);
    put_load("one", 0x5000, 0x10, 2000);
    put_move(0x5000, 0x7000, 0x10, 3000);
    put_move(0x9999, 0x8000, 0x10, 3000); /* of nothing that is known */
    put_move(0x7000, 0x6000, 0x10, 4000);
    struct jitdump *dump = open_all();
    assert_string_equal(name_at(dump, 0x5000, 2500), "one");
    assert_string_equal(name_at(dump, 0x5000, 3500), "");
    assert_string_equal(name_at(dump, 0x7008, 3500), "one");
    assert_string_equal(name_at(dump, 0x7008, 4500), "");
    assert_string_equal(name_at(dump, 0x6008, 4500), "one");
    assert_string_equal(name_at(dump, 0x8000, 4500), "");
    assert_int_equal(line_at(dump, 0x5007, 2500), 10);
    assert_int_equal(line_at(dump, 0x5008, 2500), 20);
    assert_int_equal(line_at(dump, 0x6007, 4500), 10);
    assert_int_equal(line_at(dump, 0x6008, 4500), 20);
    jitdump_close(dump);
}

/* V8 counts them from the header on that perf puts before the code. Lines are
 * those of the next load alone, and only if it is at their address. */
static void
lines_are_those_of_the_next_load(void **state)
{
    (void)state;
    begin_file(PID, 1000, 0);
    put_lines(0x5000, V8_SHIFT, 10, 20);
    put_load("JS:*one /a.js:3:7", 0x5000, 0x10, 2000);
    put_load("two", 0x6000, 0x10, 2000);
    put_lines(0x9000, 0, 10, 20);
    put_load("three", 0x7000, 0x10, 2000);
    put_load("four", 0x9000, 0x10, 2000);
    struct jitdump *dump = open_all();
    assert_int_equal(line_at(dump, 0x5000, 2000), 10);
    assert_int_equal(line_at(dump, 0x500f, 2000), 20);
    assert_int_equal(line_at(dump, 0x6000, 2000), 0);
    assert_int_equal(line_at(dump, 0x7000, 2000), 0);
    assert_int_equal(line_at(dump, 0x9000, 2000), 0);
    jitdump_close(dump);
}

/* Names of files that are freed memory: V8 of Node 20 writes them. Only their
 * length is right. */
static void
put_damaged_lines(uint64_t address, size_t name)
{
    char junk[32] = "\xca\n\3\0\0\0\0\0\x35";
    put_head(2, 16 + 2 * (16 + name) + 6, 0);
    put_words(2, (const uint64_t[]){address, 2});
    for (int i = 0; i < 2; i++) {
        put_words(1, (const uint64_t[]){address + V8_SHIFT + 8u * (unsigned)i});
        put((const int32_t[]){10 * (i + 1), 0}, 8);
        put(junk, name);
    }
    put("\0\0\0\0\0\0", 6);
}

static void
damaged_names_of_files_do_no_harm(void **state)
{
    (void)state;
    begin_file(PID, 1000, 0);
    put_damaged_lines(0x5000, sizeof "/a.js");
    put_load("JS:*one /a.js:3:7", 0x5000, 0x10, 2000);
    put_damaged_lines(0x6000, sizeof "/other.js");
    put_load("JS:*two /a.js:3:7", 0x6000, 0x10, 2000);
    put_damaged_lines(0x7000, sizeof "/a.js");
    put_load("three", 0x7000, 0x10, 2000);
    /* Lines that are not of the code. */
    put_lines(0x8000, 0x1000, 10, 20);
    put_load("four", 0x8000, 0x10, 2000);
    struct jitdump *dump = open_all();
    assert_int_equal(line_at(dump, 0x5007, 2000), 10);
    assert_int_equal(line_at(dump, 0x5008, 2000), 20);
    assert_int_equal(line_at(dump, 0x6008, 2000), 0);
    assert_int_equal(line_at(dump, 0x7008, 2000), 0);
    assert_int_equal(line_at(dump, 0x8008, 2000), 0);
    jitdump_close(dump);
}

/* Add SIZE bytes of machine code to the load at the end, which begins at AT. */
static void
put_code(size_t at, uint32_t size)
{
    uint32_t whole;
    memcpy(&whole, bytes + at + 4, sizeof whole);
    whole += size;
    memcpy(bytes + at + 4, &whole, sizeof whole);
    assert_true(length + size <= sizeof bytes);
    memset(bytes + length, 0x90, size);
    length += size;
}

/* However a file was cut, its whole records count, and no more. */
static void
whole_records_of_a_cut_file_count(void **state)
{
    (void)state;
    begin_file(PID, 1000, 0);
    put_load("one", 0x5000, 0x10, 2000);
    size_t first = length;
    put_lines(0x6000, 0, 10, 20);
    size_t second = length;
    put_load("two", 0x6000, 0x10, 3000);
    put_code(second, 6000);
    for (size_t size = 0; size <= length; size += size < second ? 1 : 97) {
        struct jitdump *dump = open_cut(size);
        assert_string_equal(name_at(dump, 0x5000, 2000),
                            size >= first ? "one" : "");
        assert_string_equal(name_at(dump, 0x6000, 3000),
                            size >= length ? "two" : "");
        assert_true((jitdump_problem(dump) != NULL) == (size < 40));
        jitdump_close(dump);
    }
    struct jitdump *dump = open_all();
    assert_string_equal(name_at(dump, 0x6000, 3000), "two");
    jitdump_close(dump);
}

/* The file PATH gives no names, and a sentence that has WORD. */
static void
expect_refused(const char *path, const char *word)
{
    struct jitdump *dump = jitdump_open(path, &self, 1000);
    assert_non_null(dump);
    assert_string_equal(name_at(dump, 0x5000, 2000), "");
    assert_non_null(jitdump_problem(dump));
    if (strstr(jitdump_problem(dump), word) == NULL)
        fail_msg("%s lacks %s", jitdump_problem(dump), word);
    jitdump_close(dump);
}

static void
refuse_changed(size_t at, unsigned char value, const char *word)
{
    begin_file(PID, 1000, 0);
    bytes[at] = value;
    put_load("one", 0x5000, 0x10, 2000);
    write_file(in_directory("changed"), length);
    expect_refused(in_directory("changed"), word);
}

static void
wrong_files_are_refused_with_a_reason(void **state)
{
    (void)state;
    refuse_changed(0, 0x45, "does not begin as a jitdump");
    refuse_changed(4, 2, "version 1");
    refuse_changed(8, 39, "header is too small");
    begin_file(PID, 1000, 0);
    memcpy(bytes, "JiTD", 4);
    write_file(in_directory("swapped"), length);
    expect_refused(in_directory("swapped"), "another byte order");
    begin_file(PID, 1000 + 20 * SECOND, 0);
    put_load("one", 0x5000, 0x10, 2000);
    write_file(in_directory("later"), length);
    expect_refused(in_directory("later"), "a later process");
    expect_refused(directory, "no regular file");
    char link[128];
    snprintf(link, sizeof link, "%s", in_directory("link"));
    assert_int_equal(symlink("later", link), 0);
    expect_refused(link, "is not used");
    struct jitdump *dump = jitdump_open(in_directory("none"), &self, 1000);
    assert_null(jitdump_problem(dump));
    jitdump_close(dump);
    jitdump_close(NULL);
}

/* What comes before the damage counts. */
static void
damage_ends_a_file(void **state)
{
    (void)state;
    begin_file(PID, 1000, 0);
    put_load("one", 0x5000, 0x10, 2000);
    put((const uint32_t[]){0, 15}, 8);
    put_words(1, (const uint64_t[]){3000});
    put_load("two", 0x6000, 0x10, 3000);
    struct jitdump *dump = open_cut(length);
    assert_string_equal(name_at(dump, 0x5000, 2000), "one");
    assert_string_equal(name_at(dump, 0x6000, 3000), "");
    assert_non_null(strstr(jitdump_problem(dump), "damaged"));
    jitdump_close(dump);
}

/* Without times the last name holds, and the file says so. */
static void
other_clocks_give_an_order_alone(void **state)
{
    (void)state;
    begin_file(PID, UINT64_MAX / 2, 1);
    put_load("one", 0x5000, 0x10, UINT64_MAX / 2);
    put_load("two", 0x5000, 0x10, UINT64_MAX / 2 + 1);
    struct jitdump *dump = open_cut(length);
    assert_string_equal(name_at(dump, 0x5000, 0), "two");
    assert_string_equal(name_at(dump, 0x5000, 5000), "two");
    assert_non_null(strstr(jitdump_problem(dump), "another clock"));
    jitdump_close(dump);
}

/* A child has what its parent's file had at the fork, and its own file. */
static void
a_child_has_the_code_of_before_the_fork(void **state)
{
    char own[128], inherited[128];
    (void)state;
    snprintf(inherited, sizeof inherited, "%s", in_directory("jit-1.dump"));
    snprintf(own, sizeof own, "%s", in_directory("jit-2.dump"));
    begin_file(PID + 1, 1, 0);
    put_load("one", 0x5000, 0x10, 500);
    put_load("of the parent", 0x5000, 0x10, 1500);
    write_file(inherited, length);
    begin_file(PID, 1400, 0);
    put_load("two", 0x5000, 0x10, 2000);
    write_file(own, length);
    struct generated_code *codes = generated_code_new(&self);
    assert_int_equal(generated_code_add(codes, inherited, 1000), 0);
    assert_int_equal(generated_code_add(codes, own, 1400), 0);
    assert_int_equal(generated_code_add(codes, own, 1400), 0);
    assert_true(generated_code_has_several(codes, 0x5000));
    uint32_t before = generated_code_find(codes, 0x5000, 1600);
    uint32_t after = generated_code_find(codes, 0x5000, 2000);
    assert_int_equal(generated_code_find(codes, 0x5000, 0), before);
    assert_string_equal(
        generated_code_symbol(codes, before, 0x5000)->frames[0].function,
        "one");
    assert_string_equal(
        generated_code_symbol(codes, after, 0x5000)->frames[0].function, "two");
    assert_int_equal(generated_code_find(codes, 0x6000, 0),
                     GENERATED_CODE_NONE);
    assert_null(generated_code_symbol(codes, GENERATED_CODE_NONE, 0x5000));
    assert_null(generated_code_problem(codes, 0));
    assert_null(generated_code_problem(codes, 7));
    /* It is read again when it has grown. */
    assert_false(generated_code_has_news(codes));
    put_load("three", 0x6000, 0x10, 3000);
    write_file(own, length);
    assert_true(generated_code_has_news(codes));
    uint32_t version = generated_code_version(codes);
    generated_code_forget(codes);
    assert_int_not_equal(generated_code_version(codes), version);
    assert_string_equal(
        generated_code_symbol(codes, after, 0x5000)->frames[0].function, "two");
    assert_string_equal(generated_code_symbol(codes, GENERATED_CODE_FIRST,
                                              0x6000)
                            ->frames[0]
                            .function,
                        "three");
    assert_ptr_equal(generated_code_share(codes), codes);
    generated_code_free(codes);
    assert_int_equal(generated_code_find(codes, 0x5000, 2000), after);
    generated_code_free(codes);
}

static int
begin(void **state)
{
    (void)state;
    return mkdtemp(directory) == NULL ? -1 : 0;
}

static int
end(void **state)
{
    (void)state;
    return shell_remove(directory);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_range_by_a_time_holds_an_address),
        cmocka_unit_test(names_hold_from_their_times_on),
        cmocka_unit_test(moved_code_keeps_its_name_and_lines),
        cmocka_unit_test(lines_are_those_of_the_next_load),
        cmocka_unit_test(damaged_names_of_files_do_no_harm),
        cmocka_unit_test(whole_records_of_a_cut_file_count),
        cmocka_unit_test(wrong_files_are_refused_with_a_reason),
        cmocka_unit_test(damage_ends_a_file),
        cmocka_unit_test(other_clocks_give_an_order_alone),
        cmocka_unit_test(a_child_has_the_code_of_before_the_fork),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
