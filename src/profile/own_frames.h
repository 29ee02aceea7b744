/* SPDX-License-Identifier: MIT */
/* own_frames.h -- the profiler's own frames on the stacks of a program. */
#ifndef PROFILE_OWN_FRAMES_H
#define PROFILE_OWN_FRAMES_H

#include <stdint.h>

#include "profile.h"

/*
 * The first frame of the program on the stack whose leaf is NODE: behind those
 * of libsprof.so, where a thread asks for its own stack or waits for the
 * profiler, and behind the frame by which the kernel returns from a signal
 * handler of ours. NODE itself if there are none, or nothing else.
 */
uint32_t own_frames_skip(const struct profile *profile, uint32_t node);

#endif
