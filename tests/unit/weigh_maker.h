/* SPDX-License-Identifier: MIT */
/*
 * weigh_maker.h -- spools with two threads (0 and 1 in the profile), two stacks
 * and a period of 1 ms, and what weighing makes of them. Include it after
 * cmocka.
 */
#ifndef TESTS_UNIT_WEIGH_MAKER_H
#define TESTS_UNIT_WEIGH_MAKER_H

#include "profile_maker.h"

/* Nodes 1 and 2 of the spool in the profile. */
enum { FIRST = PROFILE_NOT_SAMPLED + 1, SECOND };

static inline void
weigh_begin(void)
{
    maker_add_head();
    maker_add_node(1, 0, 1, 0x10, 0);
    maker_add_node(2, 0, 1, 0x20, 0);
}

static inline struct profile *
weigh_load(struct profile *profile)
{
    profile = maker_load(profile);
    maker_expect_sums(profile);
    assert_int_equal(profile->problems, 0);
    return profile;
}

/* THREAD has one running sample at NODE, with these values. */
static inline void
weigh_expect(const struct profile *profile, uint32_t thread, uint32_t node,
             uint64_t count, uint64_t cpu, uint64_t wall)
{
    const struct profile_sample *sample =
        maker_find(profile, thread, node, STATE_RUNNING);

    assert_int_equal(sample->values[VALUE_SAMPLES], count);
    assert_int_equal(sample->values[VALUE_CPU], cpu);
    assert_int_equal(sample->values[VALUE_WALL], wall);
}

/* What the recorder writes for threads that it never saw: what they used from
 * AGE on, in a bin. */
static inline void
weigh_add_unseen(uint32_t thread, uint64_t cpu, uint64_t age)
{
    const struct record_sample record = {.wall = cpu,
                                         .cpu = cpu,
                                         .thread = thread,
                                         .system_call = SYSCALL_UNKNOWN,
                                         .state = STATE_RUNNING,
                                         .trigger = TRIGGER_NONE,
                                         .age = age};

    maker_add_thread(thread, 0, "[short-lived]");
    maker_append(RECORD_SAMPLE, &record, sizeof record, NULL, 0);
}

/* A test with a spool of its own. */
#define UNIT(name) \
    cmocka_unit_test_setup_teardown(name, maker_forget, maker_clean)

#endif
