/* SPDX-License-Identifier: MIT */
/*
 * own_frames.h -- our own frames on the stacks of the program: of a hook, of a
 * call of sprof.h, of the constructor, of the handler. They are in no stack;
 * the time is the program's that called.
 */
#ifndef AGENT_OWN_FRAMES_H
#define AGENT_OWN_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

/* The first frame of the program among FRAMES (as capture/walk.h has them, the
 * leaf first): behind ours, and behind the one by which the kernel returns from
 * our handler. COUNT if there is none. Context: sampler. */
uint32_t own_frames_skip(const uint64_t *frames, uint32_t count);

/* Whether FRAME is ours. Context: sampler. */
bool own_frames_has(uint64_t frame);

#endif
