/* SPDX-License-Identifier: MIT */
/*
 * code.h -- reads the machine code of a function, as far as finding its frame
 * without the frame pointer needs it: how far below rbp it keeps rsp. x86-64.
 * Whatever is not understood is "no".
 */
#ifndef CAPTURE_CODE_H
#define CAPTURE_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where rbp lies above rsp at a call in a function: LOW to HIGH bytes. */
struct code_frame {
    uint64_t low, high; /* equal: exactly so */
    size_t ready;       /* that many bytes into the function it is true */
};

/* Read the function CODE of LENGTH bytes, whole. False if it does not keep rbp
 * as a frame pointer, has a frame of variable size, or cannot be followed. Any
 * thread. */
bool code_read_frame(const uint8_t *code, size_t length,
                     struct code_frame *frame);

#endif
