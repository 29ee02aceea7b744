/* SPDX-License-Identifier: MIT */
/*
 * state_test.c -- what begins anew with a profile, and what in the child of a
 * fork alone: variables of this file, and those of other files by what their
 * functions return.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "agent/doze.h"
#include "base/clock.h"
#include "base/state.h"
#include "journal/journal.h"
#include "sampling/marks.h"
#include "sampling/sampler_thread.h"
#include "sampling/session.h"
#include "sampling/thread_time.h"

static OF_PROFILE uint8_t profile_bytes[13];
static OF_PROFILE uint64_t profile_word;
static OF_PROCESS uint8_t process_bytes[13];
static uint64_t kept_word;

static int
begin(void **state)
{
    (void)state;
    state_renew_process();
    state_renew_profile();
    memset(profile_bytes, 1, sizeof(profile_bytes));
    memset(process_bytes, 1, sizeof(process_bytes));
    profile_word = kept_word = UINT64_MAX;
    return 0;
}

static void
a_profile_begins_with_its_own_variables(void **state)
{
    static const uint8_t none[13];
    (void)state;
    state_renew_profile();
    assert_memory_equal(profile_bytes, none, sizeof(none));
    assert_int_equal(profile_word, 0);
    assert_int_equal(process_bytes[12], 1);
    assert_int_equal(kept_word, UINT64_MAX);
}

static void
a_child_begins_with_those_of_the_process(void **state)
{
    static const uint8_t none[13];
    (void)state;
    state_renew_process();
    assert_memory_equal(process_bytes, none, sizeof(none));
    assert_int_equal(profile_bytes[12], 1);
    assert_int_equal(profile_word, UINT64_MAX);
    assert_int_equal(kept_word, UINT64_MAX);
}

static void
a_profile_counts_from_zero(void **state)
{
    static const struct journal_sums none;
    (void)state;
    memset(thread_time_sums(), 1, sizeof(none));
    state_renew_profile();
    assert_memory_equal(thread_time_sums(), &none, sizeof(none));
    assert_int_equal(thread_time_active_count(), 0);
    assert_int_equal(session_past()->elapsed, 0);
}

static void
a_profile_begins_asleep_and_closed(void **state)
{
    (void)state;
    doze_begin(clock_now(), false);
    session_announce(true);
    marks_accept(true);
    assert_true(doze_is_on() && session_is_announced() && marks_are_open());
    state_renew_profile();
    assert_false(doze_is_on());
    assert_false(session_is_announced());
    assert_false(marks_are_open());
}

static void
a_profile_begins_without_a_sampler(void **state)
{
    (void)state;
    sampler_thread_give_up();
    assert_true(sampler_thread_is_launched() && sampler_thread_has_left());
    state_renew_profile();
    assert_false(sampler_thread_is_launched());
    assert_false(sampler_thread_has_left());
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_profile_begins_with_its_own_variables, begin),
        cmocka_unit_test_setup(a_child_begins_with_those_of_the_process, begin),
        cmocka_unit_test_setup(a_profile_counts_from_zero, begin),
        cmocka_unit_test_setup(a_profile_begins_asleep_and_closed, begin),
        cmocka_unit_test_setup(a_profile_begins_without_a_sampler, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
