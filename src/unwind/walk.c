/* SPDX-License-Identifier: MIT */
/*
 * walk.c -- the walk by rules; see walk.h. It runs in the signal handler of the
 * sampled thread: it allocates nothing, takes no lock, and calls nothing of
 * libc. It is bounded by the number of frames that a stack can have. Every
 * frame must lie above the one before, so that a walk over a damaged stack
 * ends.
 */
#include <stddef.h>

#include "base/hot.h"
#include "base/sys.h"
#include "interpreter.h"
#include "morestack.h"
#include "rules.h"
#include "view.h"
#include "walk.h"
#include "base/poison.h"

/* Limit of the frames of a walk: more than any stack of 64 MiB holds. It ends a
 * walk over nonsense whose frames rise. */
#define DEPTH_MAX 1000000u

/* Limit of the changes to a lower stack in a walk, or of frames without a
 * stack. Go changes stacks when it calls C, when C calls it, and for its own
 * runtime. A walk over nonsense must not go on for ever. */
#define LEAPS_MAX 16u

HOT void
walk_begin(struct walk *walk, const struct regs *regs)
{
    walk->regs = *regs;
    walk->go = 0;
    walk->context = NULL;
    walk->registers = NULL;
    walk->signal = 0;
    walk->is_return = false;
    walk->cut = CUT_NONE;
    walk->tail = walk->capacity / 4;
    walk->frames[0] = frame_exact(regs->pc);
    walk->depth = 1;
    walk->leaps = 0;
    walk->is_guessed = false;
    walk->trusted.depth = 0;
    walk->script = NULL;
    walk->border = SCRIPT_NO_BORDER;
}

void
walk_place(struct walk *walk, struct script *script)
{
    walk->script = script;
    walk->border = script->is_open ? 0 : script->border;
}

void
walk_leave(struct walk *walk)
{
    if (walk->script == NULL)
        return;
    interpreter_leave(walk->script);
    walk_place(walk, walk->script);
}

/* The current frame reaches up to CFA and returns to PC. The border of frames
 * of the interpreter lies below, or frames of the loop may run functions that
 * are not among these. A separate function, because few frames need it. */
static HOT __attribute__((noinline)) void
cross_border(struct walk *walk, uint64_t pc, uint64_t cfa)
{
    struct script *script = walk->script;
    uint64_t here = walk->regs.pc - walk->is_return;
    if (cfa <= script->border && !script_is_in_loop(script, here))
        return;
    if (script->is_open) {
        const struct script_native native = {here, walk->regs.sp, cfa, pc,
                                             walk->depth};
        interpreter_meet(script, &native);
    }
    script_cross(script, walk->regs.sp, cfa, walk->depth);
    walk->border = script->is_open ? 0 : script->border;
}

static inline struct frame *
frame_at(struct walk *walk, uint32_t depth)
{
    uint32_t head = walk->capacity - walk->tail;
    uint32_t at = depth < head ? depth : head + (depth - head) % walk->tail;
    return &walk->frames[at];
}

static inline void
add_frame(struct walk *walk, struct frame frame)
{
    *frame_at(walk, walk->depth) = frame;
    walk->depth++;
}

static enum walk_outcome
cut_walk(struct walk *walk, enum cut why)
{
    walk->cut = why;
    return WALK_CUT;
}

/* Stop the walk where it stands, in code without a table. RULE says whether
 * another way may exist. */
static enum walk_outcome
lose_way(struct walk *walk, struct rule rule, enum cut why)
{
    walk->cut = why;
    return rule_chain_is(rule, RULE_CHAIN_LAST) ? WALK_CUT : WALK_LOST;
}

/* Whether the walk, which reached no code or no stack's end, knows where it
 * went wrong: where it last followed a guess, or where a chain led to its
 * present frame. */
static bool
knows_better(const struct walk *walk)
{
    uint32_t trusted = walk->trusted.depth;
    return trusted != 0 && walk->depth > trusted &&
           walk->depth <= walk->capacity &&
           (frame_kind(walk->frames[trusted]) == FRAME_GUESSED ||
            walk->depth == trusted + 1);
}

/* Go back to where the walk went wrong. */
static enum walk_outcome
go_back(struct walk *walk)
{
    if (!knows_better(walk))
        return cut_walk(walk, CUT_NOT_CODE);
    walk->depth = walk->trusted.depth;
    walk->trusted.depth = 0; /* only once */
    if (walk->script != NULL) {
        script_go_back(walk->script, walk->depth);
        walk->script->is_open = false;
        walk->border = walk->script->border;
    }
    walk->regs = walk->trusted.regs;
    walk->is_return = walk->trusted.is_return;
    walk->signal = walk->trusted.signal;
    return lose_way(walk, rules_find(walk->regs.pc - walk->is_return),
                    CUT_NOT_CODE);
}

/* Enter the caller: return address PC, stack pointer SP. Start-up code marks
 * the root by a return address of 0. But a stack has many zeros. After a guess
 * a zero shows only that the guess was wrong. */
static inline enum walk_outcome
enter_caller(struct walk *walk, uint64_t pc, uint64_t sp, uint64_t fp)
{
    /* A leaf may have taken its return address off the stack (vfork), or never
     * have had it there (a link register). */
    bool is_leaf = walk->depth == 1 || !walk->is_return;
    if (sp < walk->regs.sp || (sp == walk->regs.sp && !is_leaf) ||
        walk->depth >= DEPTH_MAX)
        return cut_walk(walk, CUT_STUCK);
    if (__builtin_expect(sp > walk->border, 0))
        cross_border(walk, pc, sp);
    if (pc == 0)
        return walk->is_guessed ? go_back(walk) : WALK_ROOT;
    if (!frame_fits(pc))
        return cut_walk(walk, CUT_NOT_CODE);
    walk->regs = (struct regs){.pc = pc, .sp = sp, .fp = fp};
    walk->is_return = true;
    add_frame(walk, frame_return(pc));
    return WALK_ON;
}

/* End the walk here. It is cut unless the caller finds fp and walks on. */
static enum walk_outcome
need_fp(struct walk *walk)
{
    walk->cut = CUT_NO_RULE;
    return WALK_NEEDS_FP;
}

/* Find the CFA of the frame where WALK stands by its frame record, because only
 * a lower bound of sp is known. fp points at the record of a function that has
 * one, except in its first instructions. */
static bool
find_cfa(const struct walk *walk, struct rule rule, uint64_t *cfa)
{
    if (rule_cfa(rule) != RULE_CFA_SP)
        return true;
    *cfa = walk->regs.fp - (uint64_t)rule_fp_offset(rule);
    return walk->is_return && rule_fp(rule) == RULE_FP_AT_CFA &&
           rule_return_slot(rule, *cfa) == walk->regs.fp + 8;
}

/* The CFA, which the frame itself keeps in a word; 0: it cannot be read. */
static HOT __attribute__((noinline)) uint64_t
read_cfa(const struct walk *walk, struct view *view, struct rule rule)
{
    bool is_by_sp = rule_cfa(rule) == RULE_CFA_SP_DEREF;
    uint64_t at = is_by_sp ? walk->regs.sp + rule_deref_slot(rule)
                           : walk->regs.fp + (uint64_t)rule_cfa_offset(rule);
    uint64_t cfa;
    if (!view_read(view, at, &cfa))
        return 0;
    return is_by_sp ? cfa + rule_deref_more(rule) : cfa;
}

static inline enum walk_outcome
undo_frame(struct walk *walk, struct view *view, struct rule rule)
{
    uint64_t base =
        rule_cfa(rule) == RULE_CFA_SP ? walk->regs.sp : walk->regs.fp;
    uint64_t cfa = base + (uint64_t)rule_cfa_offset(rule);
    uint64_t pc = arch_link(&walk->regs), fp = walk->regs.fp;
    /* A handler usually knows fp: the branch costs nothing there. */
    bool is_lost = __builtin_expect(fp == REGS_FP_UNKNOWN, 0);
    if (is_lost && rule_cfa(rule) != RULE_CFA_SP &&
        rule_cfa(rule) != RULE_CFA_SP_DEREF)
        return need_fp(walk);
    if (__builtin_expect(rule_cfa(rule) >= RULE_CFA_FP_DEREF, 0)) {
        cfa = read_cfa(walk, view, rule);
        if (cfa == 0)
            return cut_walk(walk, CUT_BAD_READ);
    }
    if (arch_doubts_sp(&walk->regs) && !find_cfa(walk, rule, &cfa))
        return cut_walk(walk, CUT_NO_RULE);
    if (rule_is_linked(rule) && (pc == 0 || walk->is_return))
        return is_lost ? need_fp(walk) : cut_walk(walk, CUT_NO_RULE);
    if (!rule_is_linked(rule) &&
        !view_read(view, rule_return_slot(rule, cfa), &pc))
        return cut_walk(walk, CUT_BAD_READ);
    /* An fp that is saved at an unknown fp stays unknown. The caller is known
     * nevertheless. */
    if (rule_fp(rule) != RULE_FP_SAME) {
        bool is_at_cfa = rule_fp(rule) == RULE_FP_AT_CFA;
        uint64_t from = is_at_cfa ? cfa : walk->regs.fp;
        if (__builtin_expect(rule_fp(rule) == RULE_FP_LOST, 0))
            fp = REGS_FP_UNKNOWN;
        else if ((is_at_cfa || !is_lost) &&
                 !view_read(view, from + (uint64_t)rule_fp_offset(rule), &fp))
            return cut_walk(walk, CUT_BAD_READ);
    }
    return enter_caller(walk, arch_code(pc), cfa, fp);
}

/* Remember where the walk stands. No table says where the caller is, and the
 * result may be nonsense. */
static void
note_trusted(struct walk *walk)
{
    walk->trusted.regs = walk->regs;
    walk->trusted.depth = walk->depth;
    walk->trusted.is_return = walk->is_return;
    walk->trusted.signal = walk->signal;
}

/* Whether the frame at AT, which lies below, may be on another stack. If so,
 * the walk goes on there. */
static bool
may_leap(struct walk *walk, struct rule rule, uint64_t at)
{
    if (!rule_chain_is(rule, RULE_CHAIN_ROOTED) || walk->leaps >= LEAPS_MAX)
        return false;
    walk->leaps++;
    walk->regs.sp = at;
    return true;
}

/* A chain of Go ends with 0. Unless that is a root, the walk goes on on the
 * goroutine's own stack, which may lie lower. */
static enum walk_outcome
end_chain(struct walk *walk, struct view *view)
{
    struct regs from, caller;
    enum morestack found =
        walk->go == 0 || walk->leaps != 0
            ? MORESTACK_NO
            : morestack_find(view, walk->go, &walk->regs, &from, &caller);
    if (found == MORESTACK_NO)
        return WALK_ROOT;
    if (found == MORESTACK_LOST)
        return cut_walk(walk, CUT_BAD_READ);
    walk->leaps++;
    walk->regs.sp = from.sp - 8;
    enum walk_outcome outcome = enter_caller(walk, from.pc, from.sp, from.fp);
    /* It has no frame: its return address is at its stack pointer. */
    walk->regs.sp = caller.sp - 8;
    return outcome == WALK_ON
               ? enter_caller(walk, caller.pc, caller.sp, caller.fp)
               : outcome;
}

/* Undo a frame by a chain. No table says where the frame is. Its register, and
 * all addresses that are read there, may be anything. */
static enum walk_outcome
undo_chain(struct walk *walk, struct view *view, struct rule rule)
{
    uint64_t at = walk->regs.fp, fp, pc;
    if (at == REGS_FP_UNKNOWN)
        return need_fp(walk);
    if (at == 0 && rule_chain_is(rule, RULE_CHAIN_ROOTED))
        return end_chain(walk, view);
    note_trusted(walk);
    view_guess(view);
    if ((at & 7) != 0 || (at < walk->regs.sp && !may_leap(walk, rule, at)))
        return lose_way(walk, rule, CUT_NO_RULE);
    if (!view_read(view, at, &fp) || !view_read(view, at + 8, &pc))
        return lose_way(walk, rule, CUT_BAD_READ);
    /* The root would have a 0 in the register, too, which would have led
     * nowhere. */
    pc = arch_code(pc);
    if (pc == 0 || !frame_fits(pc))
        return lose_way(walk, rule, CUT_NOT_CODE);
    enum walk_outcome outcome = enter_caller(walk, pc, at + 16, fp);
    arch_doubt_sp(&walk->regs);
    return outcome;
}

/* Read register NUMBER of the frame that was interrupted last. */
static bool
read_register(const struct walk *walk, struct view *view, unsigned number,
              uint64_t *value)
{
    if (walk->signal != 0)
        return view_read(view, walk->signal + arch_signal_offset(number),
                         value);
    *value = walk->context != NULL ? arch_register(walk->context, number)
                                   : walk->registers->at[number];
    return true;
}

/* Undo a frame that keeps its CFA in any register; with a link register, its
 * return address. It was interrupted, or its callee leaves that register as it
 * is. With a link register, both may have nothing on the stack. */
static enum walk_outcome
undo_leaf(struct walk *walk, struct view *view, struct rule rule)
{
    unsigned number = arch_register_of_code(rule_leaf_number(rule));
    uint64_t value, pc, fp = walk->regs.fp;
    if (!walk_knows_registers(walk) || arch_doubts_sp(&walk->regs))
        return undo_chain(walk, view, rule_chain(0));
    if (!read_register(walk, view, number, &value))
        return cut_walk(walk, CUT_BAD_READ);
    uint64_t cfa = (ARCH_HAS_LINK ? walk->regs.sp : value) +
                   (uint64_t)rule_leaf_offset(rule);
    pc = value;
    if ((!ARCH_HAS_LINK &&
         !view_read(view, rule_return_slot(rule, cfa), &pc)) ||
        (rule_fp(rule) == RULE_FP_AT_CFA &&
         !view_read(view, cfa + (uint64_t)rule_fp_offset(rule), &fp)))
        return cut_walk(walk, CUT_BAD_READ);
    if (rule_fp(rule) == RULE_FP_LOST)
        fp = REGS_FP_UNKNOWN;
    if (ARCH_HAS_LINK && walk->is_return && walk->leaps++ < LEAPS_MAX)
        walk->is_return = false;
    return enter_caller(walk, arch_code(pc), cfa, fp);
}

/* End a walk that stands in no code. Unless that is the leaf, it is no frame
 * and is taken off, with the FRAME_GUESSED before it. */
static enum walk_outcome
undo_nowhere(struct walk *walk)
{
    if (knows_better(walk) || walk->depth <= 1 || walk->depth > walk->capacity)
        return go_back(walk);
    walk->depth--;
    walk->depth -= frame_kind(walk->frames[walk->depth - 1]) == FRAME_GUESSED;
    return cut_walk(walk, CUT_NOT_CODE);
}

/* Undo a frame by a rule that a search has found on an earlier stack. */
static enum walk_outcome
undo_guess(struct walk *walk, struct view *view, struct rule rule)
{
    uint64_t cfa = walk->regs.sp + (uint64_t)rule_cfa_offset(rule);
    uint64_t saved = cfa + (uint64_t)rule_fp_offset(rule);
    struct regs caller = {.sp = cfa, .fp = walk->regs.fp};
    view_guess(view);
    if (!view_read(view, rule_return_slot(rule, cfa), &caller.pc) ||
        (saved != cfa && !view_read(view, saved, &caller.fp)))
        return lose_way(walk, rule, CUT_BAD_READ);
    /* The search does not take a root for a caller. */
    caller.pc = arch_code(caller.pc);
    if (caller.pc == 0 || !frame_fits(caller.pc))
        return lose_way(walk, rule, CUT_NOT_CODE);
    note_trusted(walk);
    return walk_guess_to(walk, &caller);
}

/* Undo a signal frame, to which a signal handler returns. No call leads to its
 * restorer, which follows another function. The registers that the signal
 * interrupted follow. They are exact, and possibly of another stack. */
static enum walk_outcome
undo_signal(struct walk *walk, struct view *view)
{
    uint64_t sp = walk->regs.sp, link = 0;
    struct regs regs;
    if (!view_read(view, sp + arch_signal_offset(ARCH_PC), &regs.pc) ||
        !view_read(view, sp + arch_signal_offset(ARCH_SP), &regs.sp) ||
        !view_read(view, sp + arch_signal_offset(ARCH_FP), &regs.fp) ||
        (ARCH_HAS_LINK &&
         !view_read(view, sp + arch_signal_offset(ARCH_RETURN), &link)))
        return cut_walk(walk, CUT_BAD_READ);
    if (walk->depth >= DEPTH_MAX)
        return cut_walk(walk, CUT_STUCK);
    if (!frame_fits(regs.pc))
        return cut_walk(walk, CUT_NOT_CODE);
    arch_set_link(&regs, link);
    *frame_at(walk, walk->depth - 1) = frame_exact(walk->regs.pc);
    walk->signal = sp;
    walk->regs = regs;
    walk->is_return = false;
    add_frame(walk, frame_exact(regs.pc));
    return WALK_ON;
}

HOT enum walk_outcome
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
        case RULE_LEAF:
            step = undo_leaf(walk, view, rule);
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
    add_frame(walk, frame_guessed());
    walk->is_guessed = true;
    enum walk_outcome outcome = walk_step_to(walk, caller);
    arch_doubt_sp(&walk->regs);
    return outcome;
}

/* Reverse FRAMES[0..COUNT). */
static void
reverse_frames(struct frame *frames, uint32_t count)
{
    for (uint32_t i = 0; i < count / 2; i++) {
        struct frame frame = frames[i];
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
    struct frame *ring = walk->frames + head;
    reverse_frames(ring, oldest);
    reverse_frames(ring + oldest, walk->tail - oldest);
    reverse_frames(ring, walk->tail);
    *elided = walk->depth - walk->capacity;
    return walk->capacity;
}
