/* SPDX-License-Identifier: MIT */
/*
 * stacks_test.c -- the stacks of all threads: which are one group, what is said
 * of them as text and as JSON, and when a record that is written in place may
 * be read.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include <cmocka.h>

#include "view/filter.h"
#include "live/stacks.h"
#include "show/stacks_text.h"
#include "profile_maker.h"

enum { FUTEX = SYS_futex, ACCEPT4 = SYS_accept4 };

static const struct symbolizer_options options = {.inlines = true};
static struct stacks *stacks;
static char *text;
/* main;work and main;work (at another pc of the same line); main;lock, inlined
 * in "call"; one cut stack. Nodes 2, 3, 4 and 6 are their leaves. */
static void
begin(void)
{
    maker_name(0x10, "main", NULL);
    maker_name(0x20, "work", NULL);
    maker_name(0x30, "call", "lock");
    maker_name(0x40, "loop", NULL);
    maker_name(0x21, "work", NULL);
    maker_names[4].frames[0].line = 0x20;
    maker_add_head();
    maker_add_node(1, 0, 1, 0x11, NODE_RETURN);
    maker_add_node(2, 1, 1, 0x20, 0);
    maker_add_node(3, 1, 1, 0x21, 0);
    maker_add_node(4, 1, 1, 0x30, 0);
    maker_add_node(5, 0, 0, CUT_NO_RULE, NODE_TRUNCATED);
    maker_add_node(6, 5, 2, 0x40, 0);
}

/* Returns the place of the record. */
static uint64_t
put(const struct stacks_entry *entries, uint32_t count, uint32_t capacity)
{
    return maker_stacks(maker_writer, entries, count, capacity);
}

enum { SEQUENCE = 8, COUNT = 36, FIRST_NODE = 56 };

/* Open what was written so far, as a reader of a process that runs does. */
static void
open_now(void)
{
    char error[512];

    stacks = stacks_open(writer_file(maker_writer)->path, &options, error,
                         sizeof error);
    assert_non_null(stacks);
}

static void
read_now(void)
{
    char error[512];

    assert_int_equal(stacks_read(stacks, error, sizeof error), 0);
}

static void
show(int (*write)(FILE *, struct stacks *))
{
    size_t size;
    FILE *stream = open_memstream(&text, &size);

    assert_non_null(stream);
    assert_int_equal(write(stream, stacks), 0);
    assert_int_equal(fclose(stream), 0);
}

static uint32_t columns, groups;

static int
write_text(FILE *stream, struct stacks *from)
{
    const struct stacks_text_options how = {.columns = columns,
                                            .groups = groups};

    return stacks_text_write(stream, from, &how);
}

static void
end(void)
{
    free(text);
    text = NULL;
    columns = groups = 0;
    stacks_close(stacks);
    maker_finish();
}

/* What the text says is PART, among other things. */
static void
expect_part(const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("not said: %s\n%s", part, text);
}

static void
expect_no_part(const char *part)
{
    if (strstr(text, part) != NULL)
        fail_msg("said: %s\n%s", part, text);
}

static const struct stacks_entry three[] = {
    {.tid = 30, .thread = 2, .node = 3, .state = 'R', .cpu = 2000000},
    {.tid = 4711, .thread = 1, .node = 4, .state = 'S', .system_call = FUTEX},
    {.tid = 20, .thread = 2, .node = 2, .state = 'R', .cpu = 1000000},
};

static void
what_reads_the_same_is_one_group(void **state)
{
    (void)state;
    begin();
    put(three, 3, 3);
    open_now();
    read_now();
    assert_int_equal(stacks->group_count, 2);
    assert_int_equal(stacks->groups[0].count, 2);
    assert_int_equal(stacks->threads[stacks->order[0]].tid, 20);
    assert_int_equal(stacks->threads[stacks->order[1]].tid, 30);
    assert_int_equal(stacks->threads[stacks->order[2]].tid, 4711);
    assert_int_equal(stacks->time, 120002000);
    show(write_text);
    assert_string_equal(text,
                        "Stacks of app, process 4711, 1970-01-01 00:00:00.120 "
                        "UTC\n"
                        "command  app -x\n"
                        "threads  3 in 2 groups, looked at within 1.300 ms\n"
                        "\n"
                        "2 threads running, 0.003 s of CPU time (most: 30, "
                        "0.002 s)\n"
                        "  worker (20, 30)\n"
                        "    work file.c:32\n"
                        "    main file.c:16\n"
                        "\n"
                        "1 thread waiting in futex, 0.000 s of CPU time\n"
                        "  main (4711)\n"
                        "    lock inlined.h:7 (inlined)\n"
                        "    call file.c:48\n"
                        "    main file.c:16\n");
    end();
}

/* State, system call and cause tell groups apart, what is waited for does
 * not. */
static void
what_differs_is_not(void **state)
{
    const struct stacks_entry entries[] = {
        {.tid = 1, .node = 2, .state = 'R'},
        {.tid = 2, .node = 2, .state = 'S', .system_call = FUTEX},
        {.tid = 3, .node = 2, .state = 'S', .system_call = ACCEPT4},
        {.tid = 4, .node = 2, .state = 'D', .system_call = ACCEPT4},
        {.tid = 5, .node = 2, .state = 'R', .cause = STACK_SILENT},
        {.tid = 6, .node = 0, .state = 'R', .cause = STACK_SILENT},
        {.tid = 7, .node = 0, .state = 'R', .cause = STACK_UNFIT},
        {.tid = 8, .node = 6, .state = 'R'},
        {.tid = 9,
         .node = 2,
         .state = 'S',
         .system_call = FUTEX,
         .waits_on = 1},
    };

    (void)state;
    begin();
    maker_add_text(1, "end of x (77)");
    put(entries, 9, 9);
    open_now();
    read_now();
    assert_int_equal(stacks->group_count, 8);
    show(write_text);
    expect_part("2 threads waiting in futex, 0.000 s of CPU time\n"
                "  thread (2)\n"
                "  thread (9), end of x (77)\n");
    expect_part("1 thread waiting in accept4 (not to be interrupted)");
    expect_part("[may be out of date: it could run and did not answer");
    expect_part("[no stack: it could run and did not answer");
    expect_part("[no stack: it is not one of the C library's]");
    expect_part("    loop file.c:64\n"
                "    [truncated: no unwind information and no frame "
                "pointer]\n");
    end();
}

static void
deadlocks_come_first(void **state)
{
    const struct stacks_entry entries[] = {
        {.tid = 1,
         .node = 4,
         .state = 'S',
         .system_call = FUTEX,
         .owner = 2,
         .waits_on = 1},
        {.tid = 2,
         .node = 2,
         .state = 'S',
         .system_call = FUTEX,
         .owner = 1,
         .waits_on = 2},
        {.tid = 3,
         .node = 2,
         .state = 'S',
         .system_call = FUTEX,
         .owner = 2,
         .waits_on = 1},
        {.tid = 4, .node = 2, .state = 'S', .owner = 4},
        {.tid = 5,
         .node = 2,
         .state = 'S',
         .system_call = FUTEX,
         .owner = 99,
         .waits_on = 3},
    };

    (void)state;
    begin();
    maker_add_text(1, "mutex of b (2)");
    maker_add_text(2, "mutex of a (1)");
    maker_add_text(3, "mutex of c (99)");
    put(entries, 5, 5);
    open_now();
    read_now();
    assert_int_equal(stacks->deadlocks.count, 2);
    show(write_text);
    expect_part("\n\nDeadlock: 2 threads wait for each other's mutexes\n"
                "  thread (1) waits for the mutex of b (2)\n"
                "      in lock inlined.h:7 (inlined)\n"
                "  thread (2) waits for the mutex of a (1)\n"
                "      in work file.c:32\n"
                "  1 more waits for them, or for others that do:\n"
                "      thread (3)\n"
                "\nDeadlock: a thread waits for itself\n"
                "  thread (4) waits for thread (4)\n");
    expect_part("mutex of c (99), where no thread 99 is left");
    end();
}

static void
labels_and_waits_that_differ_are_told(void **state)
{
    struct stacks_entry entries[20];

    (void)state;
    begin();
    maker_add_text(1, "user");
    maker_add_text(2, "a\x1b[1m");
    maker_add_text(3, "b");
    maker_add_text(4, "request");
    maker_label(maker_writer, 1, 0, 1, 2);
    maker_label(maker_writer, 2, 1, 4, 3);
    maker_label(maker_writer, 3, 2, 1, 3);
    maker_label(maker_writer, 4, 99, 1, 3);
    for (uint32_t i = 0; i < 20; i++) {
        entries[i] = (struct stacks_entry){.tid = i + 1,
                                           .node = 2,
                                           .state = 'S',
                                           .system_call = SYS_read,
                                           .cpu = UINT64_MAX,
                                           .label = i % 5};
        maker_add_text(10 + i, (char[]){'s', (char)('a' + i), '\0'});
    }
    put(entries, 20, 20);
    open_now();
    read_now();
    show(write_text);
    expect_part("20 threads waiting in read\n"
                "  thread (1, 5-6, 10-11, 15-16, 20)\n"
                "  thread (2, 7, 12, 17), user=a?[1m\n"
                "  thread (3, 8, 13, 18), user=a?[1m, request=b\n"
                "  thread (4, 9, 14, 19), request=b, user=b\n");
    stacks_close(stacks);
    free(text);
    for (uint32_t i = 0; i < 20; i++)
        entries[i].waits_on = 10 + i;
    put(entries, 20, 20);
    open_now();
    read_now();
    show(write_text);
    expect_part("20 threads waiting in read\n"
                "  thread (1-20), each with a wait or labels of its own\n");
    end();
}

/* A record that is being written is not read, nor one that never was. */
static void
a_record_that_is_being_written_is_not_read(void **state)
{
    uint64_t record;
    char error[512];

    (void)state;
    begin();
    open_now();
    assert_int_equal(stacks_read(stacks, error, sizeof error), -1);
    record = put(three, 3, 3);
    maker_set(record, SEQUENCE, 0, 8);
    assert_int_equal(stacks_read(stacks, error, sizeof error), -1);
    assert_non_null(strstr(error, "no stacks of all threads"));
    maker_set(record, SEQUENCE, 1, 8);
    assert_int_equal(stacks_read(stacks, error, sizeof error), -1);
    assert_non_null(strstr(error, "never were complete"));
    maker_set(record, SEQUENCE, 2, 8);
    read_now();
    assert_int_equal(stacks->thread_count, 3);
    end();
}

/* Written again in place, with a node that comes after; then a larger one. */
static void
a_record_is_read_again(void **state)
{
    struct stacks_entry entries[5] = {{0}};
    uint64_t record;

    (void)state;
    begin();
    record = put(three, 3, 3);
    open_now();
    read_now();
    assert_int_equal(stacks->thread_count, 3);
    maker_add_node(7, 4, 2, 0x40, 0);
    maker_set(record, FIRST_NODE, 7, 4);
    maker_set(record, COUNT, 1, 4);
    maker_set(record, SEQUENCE, 4, 8);
    read_now();
    assert_int_equal(stacks->thread_count, 1);
    show(write_text);
    expect_part("    loop file.c:64\n    lock inlined.h:7 (inlined)\n");
    for (uint32_t i = 0; i < 5; i++)
        entries[i] = (struct stacks_entry){.tid = i + 1, .state = 'S'};
    put(entries, 5, 8);
    read_now();
    assert_int_equal(stacks->thread_count, 5);
    assert_int_equal(stacks->group_count, 1);
    end();
}

/* What refers to nothing is not known; a count beyond the room is cut. */
static void
what_refers_to_nothing_is_not_known(void **state)
{
    const struct stacks_entry entries[] = {
        {.tid = 7,
         .thread = 99,
         .node = 99,
         .waits_on = 99,
         .owner = 99,
         .label = 99,
         .system_call = 9999,
         .state = 'S',
         .cause = 200},
        {.tid = 7, .node = UINT32_MAX, .state = 3, .cause = STACK_MOVED},
    };
    uint64_t record;

    (void)state;
    begin();
    record = put(entries, 2, 2);
    maker_set(record, COUNT, UINT32_MAX, 4);
    open_now();
    read_now();
    assert_int_equal(stacks->thread_count, 2);
    show(write_text);
    expect_part("1 thread waiting in system call 9999, where no thread 99 is "
                "left");
    expect_part("1 thread in an unknown state, 0.000 s of CPU time\n"
                "  thread (7)\n"
                "    [no stack: it was never still long enough to be looked "
                "at]");
    show(stacks_json_write);
    expect_part("\"system_call\":null");
    end();
}

static void
a_filter_keeps_what_it_says(void **state)
{
    struct filter_options filter = {0};
    char error[256];

    (void)state;
    begin();
    put(three, 3, 3);
    open_now();
    read_now();
    assert_int_equal(filter_add_label(&filter, "thread", "wor*"), 0);
    assert_int_equal(filter_add_label(&filter, "state", "waiting"), 0);
    assert_int_equal(stacks_filter_apply(stacks, &filter), 0);
    assert_int_equal(stacks->kept_count, 0);
    filter_release(&filter);
    assert_int_equal(filter_add_label(&filter, "state", "futex"), 0);
    assert_int_equal(stacks_filter_apply(stacks, &filter), 0);
    assert_int_equal(stacks->kept_count, 1);
    show(write_text);
    expect_part("threads  1 of 3 in 1 group,");
    filter_release(&filter);
    assert_int_equal(filter_add_expression(&filter, FILTER_IGNORE, "^lock$",
                                           error, sizeof error),
                     0);
    assert_int_equal(filter_add_label(&filter, "tid", "20"), 0);
    assert_int_equal(stacks_filter_apply(stacks, &filter), 0);
    assert_int_equal(stacks->kept_count, 1);
    filter_release(&filter);
    assert_int_equal(filter_add_label(&filter, "state", "R"), 0);
    assert_int_equal(stacks_filter_apply(stacks, &filter), 0);
    assert_int_equal(stacks->kept_count, 2);
    filter_release(&filter);
    end();
}

static void
the_limit_and_the_width_hold(void **state)
{
    (void)state;
    begin();
    put(three, 3, 3);
    open_now();
    read_now();
    groups = 1;
    columns = 30;
    show(write_text);
    expect_part("2 threads running, 0.003 s of\n    CPU time");
    expect_part("\n(1 more groups of 1 threads; -n 0 shows all)\n");
    expect_no_part("futex");
    end();
}

static void
json_says_what_the_text_says(void **state)
{
    (void)state;
    begin();
    put(three + 1, 1, 1);
    open_now();
    read_now();
    show(stacks_json_write);
    assert_string_equal(
        text,
        "{\"pid\":4711,\"exe\":\"/bin/app\",\"command\":\"app -x\",\"host\":"
        "\"\",\"time_ns\":120002000,\"took_ns\":1300000,\"thread_count\":1,"
        "\"deadlocks\":[],\"threads\":["
        "{\"tid\":4711,\"name\":\"main\",\"state\":\"futex\","
        "\"kernel_state\":\"S\",\"system_call\":\"futex\",\"waits_on\":null,"
        "\"owner_tid\":null,\"cpu_ns\":0,\"labels\":{},\"group\":0}],"
        "\"groups\":["
        "{\"tids\":[4711],\"state\":\"futex\",\"depth\":0,\"cause\":null,"
        "\"cause_text\":null,\"frames\":["
        "{\"function\":\"lock\",\"linkage\":\"lock\",\"file\":\"inlined.h\","
        "\"line\":7,\"module\":\"/bin/app\",\"offset\":\"0x30\","
        "\"inlined\":true},"
        "{\"function\":\"call\",\"linkage\":\"call\",\"file\":\"file.c\","
        "\"line\":48,\"module\":\"/bin/app\",\"offset\":\"0x30\","
        "\"inlined\":false},"
        "{\"function\":\"main\",\"linkage\":\"main\",\"file\":\"file.c\","
        "\"line\":16,\"module\":\"/bin/app\",\"offset\":\"0x11\","
        "\"inlined\":false}]}]}\n");
    end();
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT(what_reads_the_same_is_one_group),
        UNIT(what_differs_is_not),
        UNIT(deadlocks_come_first),
        UNIT(labels_and_waits_that_differ_are_told),
        UNIT(a_record_that_is_being_written_is_not_read),
        UNIT(a_record_is_read_again),
        UNIT(what_refers_to_nothing_is_not_known),
        UNIT(a_filter_keeps_what_it_says),
        UNIT(the_limit_and_the_width_hold),
        UNIT(json_says_what_the_text_says),
    };

    return cmocka_run_group_tests(tests, maker_begin, maker_end);
}
