/* SPDX-License-Identifier: MIT */
/* weigh_maker.c -- see weigh_maker.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "weigh_maker.h"

void
weigh_begin(void)
{
    maker_add_head();
    maker_add_node(1, 0, 1, 0x10, 0);
    maker_add_node(2, 0, 1, 0x20, 0);
}

struct profile *
weigh_load(struct profile *profile)
{
    profile = maker_load(profile);
    maker_expect_sums(profile);
    assert_int_equal(profile->problems, 0);
    return profile;
}

void
weigh_expect(const struct profile *profile, uint32_t thread, uint32_t node,
             uint64_t count, uint64_t cpu, uint64_t wall)
{
    const struct profile_sample *sample =
        maker_find(profile, thread, node, STATE_RUNNING);

    assert_int_equal(sample->values[VALUE_SAMPLES], count);
    assert_int_equal(sample->values[VALUE_CPU], cpu);
    assert_int_equal(sample->values[VALUE_WALL], wall);
}

void
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
