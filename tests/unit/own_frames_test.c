/* SPDX-License-Identifier: MIT */
/* own_frames_test.c -- what a dump tells of threads that are in the profiler's
 * own code. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "profile/stacks.h"

#include "profile_maker.h"
#include "spool_maker.h"

#define CLEAN(name) \
    cmocka_unit_test_setup_teardown(name, maker_forget, maker_clean)

enum { FUTEX = 202 };

static struct stacks *stacks;

/* Two threads at once in libsprof.so and, without it, in "work": in a handler
 * of ours, and in a call of ours. A third waits in "lock". */
static void
begin(void)
{
    static const struct symbolizer_options options = {.inlines = true};
    static const struct stacks_entry entries[] = {
        {.tid = 1,
         .node = 4,
         .owner = 2,
         .waits_on = 1,
         .system_call = FUTEX,
         .state = 'S'},
        {.tid = 2, .node = 5, .system_call = FUTEX, .state = 'S'},
        {.tid = 3, .node = 6, .system_call = FUTEX, .state = 'S'},
    };
    char error[512];

    maker_name(0x10, "work", NULL);
    maker_name(0x20, "lock", NULL);
    maker_add_head();
    maker_add_module(3, "/opt/libsprof.so");
    maker_add_node(1, 0, 1, 0x10, 0);
    maker_add_node(2, 1, 2, 0x40, NODE_RETURN);
    maker_add_node(3, 0, 1, 0x11, NODE_RETURN);
    maker_add_node(4, 2, 3, 0x90, 0);
    maker_add_node(5, 3, 3, 0x90, 0);
    maker_add_node(6, 3, 1, 0x20, 0);
    maker_add_text(1, "mutex of somebody");
    assert_non_null(maker_stacks(maker_writer, entries, 3, 3));
    stacks =
        stacks_open(writer_path(maker_writer), &options, error, sizeof error);
    assert_non_null(stacks);
    assert_int_equal(stacks_read(stacks, error, sizeof error), 0);
    assert_int_equal(stacks->thread_count, 3);
}

static const struct stacks_thread *
thread_of(uint32_t tid)
{
    for (uint32_t i = 0; i < stacks->thread_count; i++)
        if (stacks->threads[i].tid == tid)
            return &stacks->threads[i];
    fail_msg("no thread %u", tid);
    return NULL;
}

static void
expect(uint32_t tid, const char *function, const char *doing)
{
    const struct stacks_thread *thread = thread_of(tid);

    assert_string_equal(
        profile_symbol(stacks->profile, thread->node)->frames[0].function,
        function);
    assert_string_equal(thread->doing, doing);
}

/* It waits for nobody but us. */
static void
who_is_in_our_code_runs(void **state)
{
    (void)state;
    begin();
    expect(1, "work", "running");
    assert_false(stacks_is_waiting(thread_of(1)));
    assert_string_equal(thread_of(1)->waits_on, "");
    assert_int_equal(thread_of(1)->owner, 0);
    expect(2, "work", "running");
    expect(3, "lock", "futex");
    stacks_close(stacks);
    maker_finish();
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CLEAN(who_is_in_our_code_runs),
    };

    return cmocka_run_group_tests(tests, maker_begin, maker_end);
}
