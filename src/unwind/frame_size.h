/* SPDX-License-Identifier: MIT */
/*
 * frame_size.h -- reads the machine code of a function, to find its frame
 * without the frame pointer: how far below fp it keeps sp. Code that is not
 * understood gives no answer.
 */
#ifndef UNWIND_FRAME_SIZE_H
#define UNWIND_FRAME_SIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where fp lies above sp at a call in a function: LOW to HIGH bytes. */
struct frame_size {
    uint64_t low, high; /* equal: exactly this */
    size_t ready;       /* true from this offset in the function on */
};

/* Read the whole function CODE of LENGTH bytes into *FRAME. Returns false if it
 * does not keep a frame pointer, has a frame of variable size, or cannot
 * be followed. Context: any thread. */
bool frame_size_read(const uint8_t *code, size_t length,
                     struct frame_size *frame);

#endif
