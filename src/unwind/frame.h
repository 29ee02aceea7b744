/* SPDX-License-Identifier: MIT */
/*
 * frame.h -- a frame of a stack as a walk records it: one word. That is usually
 * an address. Some words replace unknown frames.
 *
 *     bit 63   bits 0 to 62
 *     0        pc              an exact one: the leaf's, or an interrupted one
 *     1        pc              a return address
 *     0        2^62 and more   a function of an interpreter (frame_script)
 *     0        1               frames are left out here
 *     0        2               a search found the next frame
 *     0        16 + enum cut   the stack ends before its root
 *
 * No code lies below address 4096 (vm.mmap_min_addr) or above bit 61. Walks
 * make no frames of interpreters; the journal does (script.h). In a spool, the
 * flags of a node give the kind of a frame (store/layout.h, NODE_RETURN).
 */
#ifndef UNWIND_FRAME_H
#define UNWIND_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/loss.h"

struct frame {
    uint64_t word;
};

enum frame_kind {
    FRAME_EXACT,
    FRAME_RETURN,
    FRAME_ELIDED,
    FRAME_GUESSED,
    FRAME_CUT,
    FRAME_SCRIPT,
};

/* Bits and values of the word. */
enum { FRAME_OF_ELIDED = 1, FRAME_OF_GUESSED = 2, FRAME_OF_CUT = 16 };
#define FRAME_RETURN_BIT (1ull << 63)
#define FRAME_SCRIPT_BIT (1ull << 62)

/* Of a FRAME_SCRIPT: its place among native frames is not known. */
#define FRAME_UNPLACED_BIT (1ull << 61)

/* Limit of the numbers of functions of interpreters. */
#define FRAME_SCRIPTS (1u << 29)

/* Whether PC, read from a stack, fits into a frame. Only such a pc can be
 * code. */
static inline bool
frame_fits(uint64_t pc)
{
    return (pc & (FRAME_RETURN_BIT | FRAME_SCRIPT_BIT)) == 0;
}

static inline struct frame
frame_exact(uint64_t pc)
{
    return (struct frame){pc};
}

static inline struct frame
frame_return(uint64_t pc)
{
    return (struct frame){pc | FRAME_RETURN_BIT};
}

static inline struct frame
frame_elided(void)
{
    return (struct frame){FRAME_OF_ELIDED};
}

static inline struct frame
frame_guessed(void)
{
    return (struct frame){FRAME_OF_GUESSED};
}

static inline struct frame
frame_cut(enum cut cause)
{
    return (struct frame){FRAME_OF_CUT + (uint64_t)cause};
}

/* The function NUMBER of an interpreter, below FRAME_SCRIPTS, at the byte
 * INSTRUCTION of its code. */
static inline struct frame
frame_script(uint32_t number, int32_t instruction)
{
    return (struct frame){FRAME_SCRIPT_BIT | (uint64_t)number << 32 |
                          (uint32_t)instruction};
}

static inline enum frame_kind
frame_kind(struct frame frame)
{
    if (frame.word == FRAME_OF_ELIDED)
        return FRAME_ELIDED;
    if (frame.word == FRAME_OF_GUESSED)
        return FRAME_GUESSED;
    if ((frame.word & FRAME_RETURN_BIT) != 0)
        return FRAME_RETURN;
    if ((frame.word & FRAME_SCRIPT_BIT) != 0)
        return FRAME_SCRIPT;
    return frame.word - FRAME_OF_CUT < CUT_COUNT ? FRAME_CUT : FRAME_EXACT;
}

/* Why the stack ends at a FRAME_CUT. */
static inline enum cut
frame_cause(struct frame frame)
{
    return (enum cut)(frame.word - FRAME_OF_CUT);
}

/* The parts of a FRAME_SCRIPT. */
static inline uint32_t
frame_script_number(struct frame frame)
{
    return (uint32_t)(frame.word >> 32) & (FRAME_SCRIPTS - 1);
}

static inline int32_t
frame_script_instruction(struct frame frame)
{
    return (int32_t)(uint32_t)frame.word;
}

static inline uint64_t
frame_pc(struct frame frame)
{
    return frame.word & ~FRAME_RETURN_BIT;
}

/* The pc to look up: that of the call itself, not of the instruction after it.
 */
static inline uint64_t
frame_lookup(struct frame frame)
{
    return frame_pc(frame) - (frame.word >> 63);
}

#endif
