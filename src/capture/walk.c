/* SPDX-License-Identifier: MIT */
/*
 * walk.c -- the walk by rules; see walk.h. Runs in the signal handler of the
 * sampled thread: no allocation, no lock, no libc, bounded by the frames that
 * a stack can have. Every frame must lie above the one before, so that a walk
 * over a damaged stack ends.
 */
#include <stddef.h>

#include "base/sys.h"
#include "rules.h"
#include "view.h"
#include "walk.h"
#include "poison.h"

/* More frames than any stack of 64 MiB holds; ends a walk over a stack whose
 * frames are nonsense but rise. */
#define DEPTH_MAX 1000000u

/* Go changes stacks when it calls C, when C calls it, and for its own runtime.
 * A walk over nonsense must not go round for ever. */
#define LEAPS_MAX 16u

void
walk_begin(struct walk *walk, const struct regs *regs)
{
    walk->regs = *regs;
    walk->is_return = false;
    walk->cut = CUT_NONE;
    walk->tail = walk->capacity / 4;
    walk->frames[0] = regs->pc;
    walk->depth = 1;
    walk->leaps = 0;
    walk->trusted.depth = 0;
}

static inline void
add_frame(struct walk *walk, uint64_t frame)
{
    uint32_t head = walk->capacity - walk->tail;
    uint32_t at = walk->depth < head ? walk->depth
                                     : head + (walk->depth - head) % walk->tail;
    walk->frames[at] = frame;
    walk->depth++;
}

static enum walk_outcome
cut(struct walk *walk, enum cut why)
{
    walk->cut = why;
    return WALK_CUT;
}

/* Stand in the caller: return address PC, stack pointer SP. A return address
 * of 0 is how start-up code marks the root. */
static inline enum walk_outcome
enter_caller(struct walk *walk, uint64_t pc, uint64_t sp, uint64_t fp)
{
    /* A leaf may have taken its return address off the stack (vfork). */
    if (sp < walk->regs.sp || (sp == walk->regs.sp && walk->depth > 1) ||
        walk->depth >= DEPTH_MAX)
        return cut(walk, CUT_STUCK);
    if (pc == 0)
        return WALK_ROOT;
    if (pc & FRAME_RETURN)
        return cut(walk, CUT_NOT_CODE);
    walk->regs = (struct regs){pc, sp, fp};
    walk->is_return = true;
    add_frame(walk, pc | FRAME_RETURN);
    return WALK_ON;
}

/* The walk is cut here, unless somebody finds fp and walks on. */
static enum walk_outcome
need_fp(struct walk *walk)
{
    walk->cut = CUT_NO_RULE;
    return WALK_NEEDS_FP;
}

static inline enum walk_outcome
undo_frame(struct walk *walk, struct view *view, struct rule rule)
{
    uint64_t base =
        rule_cfa(rule) == RULE_CFA_SP ? walk->regs.sp : walk->regs.fp;
    uint64_t cfa = base + (uint64_t)rule_cfa_offset(rule);
    uint64_t pc, fp = walk->regs.fp;
    /* Never so in a handler: the branch costs nothing there. */
    bool is_lost = __builtin_expect(fp == REGS_FP_UNKNOWN, 0);
    if (is_lost && rule_cfa(rule) != RULE_CFA_SP)
        return need_fp(walk);
    if (rule_cfa(rule) == RULE_CFA_FP_DEREF && !view_read(view, cfa, &cfa))
        return cut(walk, CUT_BAD_READ);
    if (!view_read(view, cfa - 8, &pc))
        return cut(walk, CUT_BAD_READ);
    /* Saved at an unknown fp, it stays unknown, but the caller is not. */
    if (rule_fp(rule) == RULE_FP_AT_CFA ||
        (rule_fp(rule) == RULE_FP_AT_FP && !is_lost)) {
        uint64_t from = rule_fp(rule) == RULE_FP_AT_CFA ? cfa : walk->regs.fp;
        if (!view_read(view, from + (uint64_t)rule_fp_offset(rule), &fp))
            return cut(walk, CUT_BAD_READ);
    }
    return enter_caller(walk, pc, cfa, fp);
}

/* No table says where the caller is: what is found there may be nonsense. */
static void
note_trusted(struct walk *walk)
{
    walk->trusted.regs = walk->regs;
    walk->trusted.depth = walk->depth;
    walk->trusted.is_return = walk->is_return;
}

/* The walk cannot go on where it stands, in code without a table. */
static enum walk_outcome
lose(struct walk *walk, struct rule rule, enum cut why)
{
    walk->cut = why;
    return rule_chain_is(rule, RULE_CHAIN_LAST) ? WALK_CUT : WALK_LOST;
}

/* Whether the frame at AT, which lies below, may be on another stack. */
static bool
leap(struct walk *walk, struct rule rule, uint64_t at)
{
    if (!rule_chain_is(rule, RULE_CHAIN_ROOTED) || walk->leaps >= LEAPS_MAX)
        return false;
    walk->leaps++;
    walk->regs.sp = at;
    return true;
}

/* No table says where the frame is: its register may point anywhere, and so may
 * all that is found by what is read there. */
static enum walk_outcome
undo_chain(struct walk *walk, struct view *view, struct rule rule)
{
    uint64_t at = walk->regs.fp, fp, pc;
    if (at == REGS_FP_UNKNOWN)
        return need_fp(walk);
    if (at == 0 && rule_chain_is(rule, RULE_CHAIN_ROOTED))
        return WALK_ROOT;
    note_trusted(walk);
    view_guess(view);
    if ((at & 7) != 0 || (at < walk->regs.sp && !leap(walk, rule, at)))
        return lose(walk, rule, CUT_NO_RULE);
    if (!view_read(view, at, &fp) || !view_read(view, at + 8, &pc))
        return lose(walk, rule, CUT_BAD_READ);
    return enter_caller(walk, pc, at + 16, fp);
}

/* The walk came to no code. If it came there from a frame without a table, that
 * is where it lost its way. */
static enum walk_outcome
undo_nowhere(struct walk *walk)
{
    if (walk->depth <= 1 || walk->depth > walk->capacity)
        return cut(walk, CUT_NOT_CODE);
    walk->depth--;
    uint32_t trusted = walk->trusted.depth;
    bool has_mark = walk->frames[walk->depth - 1] == FRAME_GUESS;
    if (trusted == 0 || trusted != walk->depth - has_mark)
        return cut(walk, CUT_NOT_CODE);
    walk->depth = trusted;
    walk->trusted.depth = 0; /* no second time */
    walk->regs = walk->trusted.regs;
    walk->is_return = walk->trusted.is_return;
    return lose(walk, rules_find(walk->regs.pc - walk->is_return),
                CUT_NOT_CODE);
}

/* A rule that was found by a search on an earlier stack. */
static enum walk_outcome
undo_guess(struct walk *walk, struct view *view, struct rule rule)
{
    uint64_t cfa = walk->regs.sp + (uint64_t)rule_cfa_offset(rule);
    uint64_t saved = cfa + (uint64_t)rule_fp_offset(rule);
    struct regs caller = {0, cfa, walk->regs.fp};
    view_guess(view);
    if (!view_read(view, cfa - 8, &caller.pc) ||
        (saved != cfa && !view_read(view, saved, &caller.fp)))
        return lose(walk, rule, CUT_BAD_READ);
    /* A root would not have been taken for a caller. */
    if (caller.pc == 0)
        return lose(walk, rule, CUT_NOT_CODE);
    note_trusted(walk);
    return walk_guess_to(walk, &caller);
}

/* A signal handler returns here: the registers that the signal interrupted
 * follow, exact and possibly on another stack. */
static enum walk_outcome
undo_signal(struct walk *walk, struct view *view)
{
    uint64_t sp = walk->regs.sp;
    struct regs regs;
    if (!view_read(view, sp + ARCH_SIGNAL_REG(REG_RIP), &regs.pc) ||
        !view_read(view, sp + ARCH_SIGNAL_REG(REG_RSP), &regs.sp) ||
        !view_read(view, sp + ARCH_SIGNAL_REG(REG_RBP), &regs.fp))
        return cut(walk, CUT_BAD_READ);
    if (walk->depth >= DEPTH_MAX)
        return cut(walk, CUT_STUCK);
    walk->regs = regs;
    walk->is_return = false;
    add_frame(walk, regs.pc);
    return WALK_ON;
}

enum walk_outcome
walk_run(struct walk *walk, struct view *view)
{
    for (;;) {
        uint64_t pc = walk->regs.pc - walk->is_return;
        struct rule rule = rules_find(pc);
        enum walk_outcome step = WALK_ON;
        switch (rule_kind(rule)) {
        case RULE_NONE:
            return WALK_MISS;
        case RULE_FRAME:
            step = undo_frame(walk, view, rule);
            break;
        case RULE_CHAIN:
            step = undo_chain(walk, view, rule);
            break;
        case RULE_GUESS:
            step = undo_guess(walk, view, rule);
            break;
        case RULE_SIGNAL:
            step = undo_signal(walk, view);
            break;
        case RULE_ROOT:
            return WALK_ROOT;
        case RULE_HARD:
            return WALK_HARD;
        case RULE_NOWHERE:
            return undo_nowhere(walk);
        }
        if (step != WALK_ON)
            return step;
    }
}

enum walk_outcome
walk_step_to(struct walk *walk, const struct regs *caller)
{
    return enter_caller(walk, caller->pc, caller->sp, caller->fp);
}

enum walk_outcome
walk_guess_to(struct walk *walk, const struct regs *caller)
{
    add_frame(walk, FRAME_GUESS);
    return walk_step_to(walk, caller);
}

/* Reverse FRAMES[0..COUNT). */
static void
reverse(uint64_t *frames, uint32_t count)
{
    for (uint32_t i = 0; i < count / 2; i++) {
        uint64_t frame = frames[i];
        frames[i] = frames[count - 1 - i];
        frames[count - 1 - i] = frame;
    }
}

uint32_t
walk_finish(struct walk *walk, uint32_t *gap, uint32_t *elided)
{
    uint32_t head = walk->capacity - walk->tail;
    *gap = head;
    *elided = 0;
    if (walk->depth <= walk->capacity)
        return walk->depth;
    /* Turn the ring so that its oldest frame comes first: three reversals. */
    uint32_t oldest = (walk->depth - head) % walk->tail;
    uint64_t *ring = walk->frames + head;
    reverse(ring, oldest);
    reverse(ring + oldest, walk->tail - oldest);
    reverse(ring, walk->tail);
    *elided = walk->depth - walk->capacity;
    return walk->capacity;
}
