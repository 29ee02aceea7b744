/* SPDX-License-Identifier: MIT */
/* slot_test.c -- what becomes of slots in the child of a fork that a handler of
 * the program has made, on top of ours. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/words.h"
#include "capture/serve.h"
#include "capture/shared.h"
#include "capture/slot.h"
#include "signals/nested.h"

#define SLOTS 4u
#define DEPTH 16u

static const ucontext_t context;

static int
begin(void **state)
{
    (void)state;
    words_begin();
    return slots_begin(SLOTS, DEPTH);
}

static int
end(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < SLOTS; i++)
        slot_free(slots_at(i));
    return slots_begin(SLOTS, DEPTH);
}

/* As in the child: its sampler empties the slots. */
static void
begin_child(void)
{
    nested_note_fork();
    assert_int_equal(slots_begin(SLOTS, DEPTH), 0);
}

static void
other_threads_slots_are_free(void **state)
{
    struct slot *claimed = slots_claim(0), *done = slots_claim(1);
    uint32_t generation = slot_generation(claimed);
    (void)state;
    assert_true(
        slot_pass(done, slot_generation(done), SLOT_CLAIMED, SLOT_DONE));
    begin_child();
    assert_true(slot_is_in(claimed, SLOT_FREE));
    assert_true(slot_is_in(done, SLOT_FREE));
    /* Another use of the slot is not taken for the one before. */
    assert_ptr_equal(slots_claim(0), claimed);
    assert_false(slot_pass(claimed, generation, SLOT_CLAIMED, SLOT_DONE));
    assert_true(slot_is_in(claimed, SLOT_CLAIMED));
}

static void
handler_that_goes_on_keeps_its_slot(void **state)
{
    struct nested_mark mark, inner;
    struct slot *slot = slots_claim(2), *other = slots_claim(0);
    uint32_t generation = slot_generation(slot);
    (void)state;
    nested_enter(&mark, &slot->mark, 1, true, &context);
    nested_enter(&inner, &other->mark, 2, true, &context);
    begin_child();
    assert_true(slot_is_in(slot, SLOT_CLAIMED));
    assert_true(slot_is_in(other, SLOT_CLAIMED));
    assert_ptr_not_equal(slots_claim(2), slot);
    assert_ptr_not_equal(slots_claim(0), other);
    assert_true(slots_used() > 2);
    nested_leave(&inner, true);
    assert_true(slot_pass(slot, generation, SLOT_CLAIMED, SLOT_DONE));
    nested_leave(&mark, true);
}

/* It is served by nobody, and does not wait for that. */
static void
parked_one_goes_on_at_once(void **state)
{
    static const enum slot_state states[] = {SLOT_PARKED, SLOT_SERVING,
                                             SLOT_SERVED};
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        struct nested_mark mark;
        struct slot *slot = slots_claim(0);
        nested_enter(&mark, &slot->mark, 1, true, &context);
        assert_true(slot_move(slot, SLOT_CLAIMED, states[i]));
        begin_child();
        assert_true(slot_is_in(slot, SLOT_SERVED));
        nested_leave(&mark, true);
        slot_free(slot);
    }
}

/* Its handler uses it no more. */
static void
one_that_was_given_away_is_free(void **state)
{
    static const enum slot_state states[] = {SLOT_LEFT, SLOT_DONE, SLOT_TAKEN};
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        struct nested_mark mark;
        struct slot *slot = slots_claim(0);
        nested_enter(&mark, &slot->mark, 1, true, &context);
        assert_true(slot_move(slot, SLOT_CLAIMED, states[i]));
        begin_child();
        assert_true(slot_is_in(slot, SLOT_FREE));
        nested_leave(&mark, true);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(other_threads_slots_are_free, end),
        cmocka_unit_test_teardown(handler_that_goes_on_keeps_its_slot, end),
        cmocka_unit_test_teardown(parked_one_goes_on_at_once, end),
        cmocka_unit_test_teardown(one_that_was_given_away_is_free, end),
    };

    return cmocka_run_group_tests(tests, begin, NULL);
}
