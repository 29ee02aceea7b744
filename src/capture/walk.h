/* SPDX-License-Identifier: MIT */
/*
 * walk.h -- walks a stack by rules, frame by frame. The same code runs in the
 * handler, on the thread's own stack, and in the sampler, which goes on where a
 * parked thread stopped.
 */
#ifndef CAPTURE_WALK_H
#define CAPTURE_WALK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/arch.h"
#include "base/loss.h"
#include "view.h"

/* A frame as stored: its pc, with the top bit set if it is a return address. */
#define FRAME_RETURN (1ull << 63)
#define FRAME_PC(frame) ((frame) & ~FRAME_RETURN)

/* In place of a frame: those before it are certain, and the next one was found
 * by looking for a return address (RULE_GUESS). */
#define FRAME_GUESS 2u

/* The pc to look up: the call itself, not the instruction behind it. */
static inline uint64_t
frame_lookup(uint64_t frame)
{
    return (frame & FRAME_RETURN) ? FRAME_PC(frame) - 1 : frame;
}

enum walk_outcome {
    WALK_ON,       /* inside a walk: the caller is entered */
    WALK_ROOT,     /* the stack is complete */
    WALK_MISS,     /* the rule for the current pc is not known */
    WALK_HARD,     /* the current frame has no simple rule */
    WALK_LOST,     /* its chain of frame pointers leads nowhere; walk.cut says
                    * why, but there may be another way */
    WALK_CUT,      /* it cannot go on; walk.cut says why */
    WALK_NEEDS_FP, /* the current frame's rule needs fp, which is not known */
};

/* regs.fp of a thread of which only pc and sp are known. Odd and no address, so
 * that nothing is found where it points if a register should ever hold it. */
#define REGS_FP_UNKNOWN 0x5eedf0e5eedf0e5dull

/*
 * Where a walk stands. The first CAPACITY - TAIL frames are kept from the leaf;
 * of the rest the last TAIL, in a ring behind them, so that both ends of a deep
 * stack are kept.
 */
struct walk {
    struct regs regs; /* of the frame that is next to be undone */
    bool is_return;   /* regs.pc is a return address */
    enum cut cut;
    uint32_t depth; /* frames so far */
    uint32_t capacity, tail;
    uint64_t *frames;
    uint32_t leaps; /* times that it went on on a stack that lies lower */
    /* Before the last frame that was undone without an unwind table, where it
     * goes on if there is no code. DEPTH 0: none yet. */
    struct {
        struct regs regs;
        uint32_t depth;
        bool is_return;
    } trusted;
};

/* Begin at REGS, which were interrupted there; walk->frames has room for
 * walk->capacity frames. */
void walk_begin(struct walk *walk, const struct regs *regs);

/* Walk on until an outcome. The frame at which a MISS, HARD, LOST, NEEDS_FP or
 * CUT happened is among the frames; a walk that is resumed does not add it
 * again. NEEDS_FP is seen only if the walk began without fp; left as it is, the
 * walk is cut there. Context: any thread, in handler. Locks: none. */
enum walk_outcome walk_run(struct walk *walk, struct view *view);

/* Take the registers of the current frame's caller as REGS and add its frame:
 * how the sampler undoes a frame without a simple rule. Returns WALK_ON to say
 * "go on", WALK_ROOT or WALK_CUT. */
enum walk_outcome walk_step_to(struct walk *walk, const struct regs *caller);

/* The same where CALLER was found by a search: a FRAME_GUESS comes first. */
enum walk_outcome walk_guess_to(struct walk *walk, const struct regs *caller);

/* The frames kept, root ones moved behind the leaf ones in order. ELIDED is how
 * many were left out between them, at index *GAP. Returns the number kept. */
uint32_t walk_finish(struct walk *walk, uint32_t *gap, uint32_t *elided);

#endif
