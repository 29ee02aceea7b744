/* SPDX-License-Identifier: MIT */
/*
 * walk.h -- walks a stack by rules, frame by frame. The same code runs in the
 * handler, on the thread's own stack, and in the sampler. The sampler goes on
 * where the handler stopped.
 */
#ifndef UNWIND_WALK_H
#define UNWIND_WALK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/arch.h"
#include "base/loss.h"
#include "frame.h"
#include "script.h"
#include "view.h"

enum walk_outcome {
    WALK_ON,   /* the walk has entered the caller */
    WALK_ROOT, /* the stack is complete */
    WALK_MISS, /* the rule for the current pc is not known */
    WALK_HARD, /* the current frame has no simple rule */
    /* Its chain of frame pointers leads nowhere. walk.cut says why, but another
     * way may exist. */
    WALK_LOST,
    WALK_CUT,      /* it cannot go on; walk.cut says why */
    WALK_NEEDS_FP, /* the current rule needs fp, which is not known */
    /* The module map does not know the current pc, and was read before the
     * stack was seen (resume.h). */
    WALK_NEEDS_MAP,
};

/* regs.fp if only pc and sp are known. It is odd and no address, so it leads
 * nowhere if a register ever holds it. */
#define REGS_FP_UNKNOWN 0x5eedf0e5eedf0e5dull

/*
 * Where a walk stands. It keeps the first CAPACITY - TAIL frames from the leaf.
 * Of the others it keeps the last TAIL, in a ring after the first. So both
 * ends of a deep stack are kept.
 */
struct walk {
    struct regs regs; /* of the frame to be undone next */
    uint64_t go;      /* content of register ARCH_GO; 0: not known */
    /* All registers of the leaf, in one of two forms, or NULL. */
    const ucontext_t *context;
    const struct arch_registers *registers;
    uint64_t signal; /* address of the last signal frame; 0: none yet */
    bool is_return;  /* regs.pc is a return address */
    enum cut cut;
    uint32_t depth; /* frames so far */
    uint32_t capacity, tail;
    struct frame *frames;
    /* Frames of an interpreter whose places are looked for, or NULL. A frame
     * whose CFA is above BORDER may be the next such place. */
    struct script *script;
    uint64_t border;
    uint32_t leaps;  /* number of changes to a lower stack */
    bool is_guessed; /* has a frame found by a search, or is a trial */
    /* The state before the last frame that was undone without an unwind table.
     * The walk goes back to it if it comes to no code. DEPTH 0: none yet. */
    struct {
        struct regs regs;
        uint64_t signal;
        uint32_t depth;
        bool is_return;
    } trusted;
};

/* Begin WALK at REGS, which are those of an interrupted thread. walk->frames
 * has room for walk->capacity frames. walk->go, context and registers are not
 * known yet. Context: any. */
void walk_begin(struct walk *walk, const struct regs *regs);

/* Find the places of the frames of SCRIPT on the way. Context: any. */
void walk_place(struct walk *walk, struct script *script);

/* The calling thread leaves WALK to the sampler. Context: handler. */
void walk_leave(struct walk *walk);

/* Walk on until an outcome. The frame at which a MISS, HARD, LOST, NEEDS_FP or
 * CUT happened is among the frames. A resumed walk does not add it again.
 * NEEDS_FP is possible only if the walk began without fp, or a function has
 * overwritten it. If the caller leaves it so, the walk is cut there. It takes
 * no lock. Context: any. */
enum walk_outcome walk_run(struct walk *walk, struct view *view);

/* Whether a rule of the kind RULE_LEAF can be followed: all registers of the
 * frame that was interrupted are known, and nothing on the way was guessed.
 * Context: any. */
static inline bool
walk_knows_registers(const struct walk *walk)
{
    return !walk->is_guessed && (walk->signal != 0 || walk->context != NULL ||
                                 walk->registers != NULL);
}

/* Enter the current frame's caller, whose registers are CALLER, and add its
 * frame. So the sampler undoes a frame without a simple rule. Returns WALK_ON
 * if the walk can go on, else WALK_ROOT or WALK_CUT. Context: sampler, in
 * window. */
enum walk_outcome walk_step_to(struct walk *walk, const struct regs *caller);

/* The same where a search found CALLER: a FRAME_GUESSED is added first.
 * Context: any. */
enum walk_outcome walk_guess_to(struct walk *walk, const struct regs *caller);

/* The number of frames that WALK has kept. */
static inline uint32_t
walk_kept(const struct walk *walk)
{
    return walk->depth < walk->capacity ? walk->depth : walk->capacity;
}

/* Put the kept frames in order, from the leaf to the root. *ELIDED becomes the
 * number of frames left out between them, at index *GAP. Returns the number
 * kept. Context: sampler. */
uint32_t walk_finish(struct walk *walk, uint32_t *gap, uint32_t *elided);

#endif
