/* SPDX-License-Identifier: MIT */
/*
 * stack_memo.h -- the last recorded stack of each thread, frame by frame from
 * the root, with the node of each frame. The next stack of a thread usually
 * shares its outer frames, and these need no search then.
 * Context: sampler.
 */
#ifndef JOURNAL_STACK_MEMO_H
#define JOURNAL_STACK_MEMO_H

#include <stdbool.h>
#include <stdint.h>

#include "unwind/frame.h"

/* A way along the last stack of a thread, and then beside it. */
struct stack_memo {
    struct last_stack *last; /* NULL: memory was short */
    struct owner *owner;
    uint32_t depth; /* frames so far */
    bool is_beside; /* a frame differed from the last stack */
};

/* Begin at the root of a stack of thread INDEX. The nodes that were noted for
 * another STAMP are no longer valid. */
struct stack_memo stack_memo_begin(uint32_t index, uint32_t stamp);

/* Take the next frame, FRAME. Returns its node, or 0 if the thread's last stack
 * has another frame here. The caller then finds the node, and notes it. */
uint32_t stack_memo_next(struct stack_memo *memo, struct frame frame);
void stack_memo_note(struct stack_memo *memo, struct frame frame,
                     uint32_t node);

#endif
