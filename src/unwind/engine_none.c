/* SPDX-License-Identifier: MIT */
/* engine_none.c -- see engine.h: a build without libunwind. */
#include "engine.h"
#include "base/poison.h"

int
engine_begin(void)
{
    return 0;
}

int
engine_step(const struct hard_registers *origin, uint32_t depth,
            uint64_t expected_pc, struct view *view, struct regs *caller,
            bool *is_root)
{
    (void)origin;
    (void)depth;
    (void)expected_pc;
    (void)view;
    (void)caller;
    (void)is_root;
    return -1;
}
