/* SPDX-License-Identifier: MIT */
/*
 * own_frames.h -- our own frames on the stacks of the program. They belong to a
 * hook, a call of sprof.h, the constructor, or the handler. No recorded stack
 * has them. Their time is that of the program's function that called.
 */
#ifndef UNWIND_OWN_FRAMES_H
#define UNWIND_OWN_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "frame.h"

/* The index of the first frame of the program in FRAMES, which begin at the
 * leaf (frame.h). It follows our frames, and the frame by which the kernel
 * returns from our handler. Returns COUNT if no frame is left. Context:
 * sampler. */
uint32_t own_frames_skip(const struct frame *frames, uint32_t count);

/* Whether PC is in our code. Context: sampler. */
bool own_frames_has(uint64_t pc);

#endif
