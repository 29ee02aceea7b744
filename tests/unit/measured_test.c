/* SPDX-License-Identifier: MIT */
/* measured_test.c -- the sample of a call that was measured: the thread stood
 * still for the sample, and not for the call. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/thread_local.h"
#include "base/words.h"
#include "capture/fill.h"
#include "capture/measured.h"
#include "capture/serve.h"
#include "capture/slot.h"
#include "unwind/rules.h"

/* How long the call took, in ns. No load keeps the sample for half of that. */
#define CALL_NS 4000000000u

static int
begin(void **state)
{
    (void)state;
    words_begin();
    thread_local_begin();
    return slots_begin(1, 64) != 0 || rules_begin() != 0;
}

/* Take the sample of a call that has ended, with this function's stack, or with
 * one that no copy can hold. */
static const struct slot *
take(uint64_t sp)
{
    const struct measured measured = {.time = clock_now() - CALL_NS,
                                      .shown = CALL_NS};
    const struct regs at = {.pc = (uint64_t)(uintptr_t)take, .sp = sp};
    measured_take(&measured, &at);
    assert_int_equal(slot_state(slots_at(0)->state), SLOT_DONE);
    assert_int_equal(slots_at(0)->trigger, TRIGGER_HOOK);
    return slots_at(0);
}

static void
thread_is_stopped_for_the_sample_alone(void **state)
{
    (void)state;
    const struct slot *slot = take((uint64_t)__builtin_frame_address(0));
    assert_in_range(slot->stopped, 0, CALL_NS / 2);
    slot_free(slots_at(0));
}

/* Nobody serves it. */
static void
thread_parks_as_long_as_a_handler(void **state)
{
    (void)state;
    const struct slot *slot = take(64); /* no stack */
    assert_true(slot->parked);
    assert_in_range(slot->stopped, PARK_NS, CALL_NS / 2);
    slot_free(slots_at(0));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(thread_is_stopped_for_the_sample_alone),
        cmocka_unit_test(thread_parks_as_long_as_a_handler),
    };

    return cmocka_run_group_tests(tests, begin, NULL);
}
