/* SPDX-License-Identifier: MIT */
/*
 * finish.c -- finishes walks; see finish.h. Runs on the sampler thread, also
 * while a thread is parked: no allocation, and no lock but libunwind's own.
 */
#include <stddef.h>

#include "base/clock.h"
#include "target/modules.h"
#include "finish.h"
#include "poison.h"

/* A return address in unknown memory makes the map be read anew, then not for
 * so many times as long as that took. */
#define REFRESH_SHARE 20

static void (*refresh_modules)(void);
static uint64_t next_refresh;

void
finish_begin(void (*refresh)(void))
{
    refresh_modules = refresh;
    next_refresh = 0;
}

void
finish_settle(void)
{
    if (!modules_are_settled())
        refresh_modules();
}

/* Learn the rule for the frame where WALK stands. Unknown memory may be code
 * that is new: look again. A leaf's pc surely is; a return address may be no
 * more than a wrong word on the stack, and only a part of the time is spent on
 * those, none on a guess. False if the walk ends here.
 */
static bool
learn(const struct finish *finish, const struct walk *walk)
{
    uint64_t pc = walk->regs.pc - walk->is_return;
    bool is_unknown = modules_code_kind(pc) == CODE_NONE;
    if (is_unknown && finish->is_trial)
        return false;
    uint64_t start = is_unknown ? clock_now() : 0;
    if (is_unknown && (!walk->is_return || start >= next_refresh)) {
        refresh_modules();
        uint64_t end = clock_now();
        next_refresh = end + REFRESH_SHARE * (end - start);
    }
    learn_rule(pc);
    return true;
}

/* Undo a frame that has no simple rule. */
static enum walk_outcome
step_hard(const struct finish *finish, struct walk *walk, struct view *view)
{
    struct regs caller;
    bool is_root;
    uint32_t depth = walk->depth - 1 - finish->depth;
    /* The origin may stand on its call, as pcs are looked up. */
    uint64_t pc = depth == 0 ? (uint64_t)finish->origin.registers[REG_RIP]
                             : walk->regs.pc;
    if (learn_step(&finish->origin, depth, pc, view, &caller, &is_root) != 0) {
        walk->cut = CUT_NO_RULE;
        return WALK_CUT;
    }
    return is_root ? WALK_ROOT : walk_step_to(walk, &caller);
}

enum walk_outcome
finish_run(const struct finish *finish, struct walk *walk, struct view *view)
{
    for (;;) {
        enum walk_outcome outcome = walk_run(walk, view);
        if (outcome == WALK_HARD)
            outcome = step_hard(finish, walk, view);
        if (outcome != WALK_MISS && outcome != WALK_ON)
            return outcome;
        if (outcome == WALK_MISS && !learn(finish, walk)) {
            walk->cut = CUT_NOT_CODE;
            return WALK_CUT;
        }
        if (finish->clock() > finish->until) {
            walk->cut = CUT_DEADLINE;
            return WALK_CUT;
        }
    }
}
