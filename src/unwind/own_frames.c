/* SPDX-License-Identifier: MIT */
/* own_frames.c -- see own_frames.h. */
#include <stddef.h>

#include "own_frames.h"
#include "base/poison.h"

/* Where our own object begins and ends in memory: symbols that ld(1) defines in
 * each object. Hidden, so that they are this object's. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

bool
own_frames_has(uint64_t pc)
{
    return pc >= (uint64_t)__ehdr_start && pc < (uint64_t)_end;
}

/* A handler returns into a frame of libc, which no function has called. The
 * frame after it was interrupted, so its pc is no return address. */
uint32_t
own_frames_skip(const struct frame *frames, uint32_t count)
{
    uint32_t first = 0;
    while (first < count && own_frames_has(frame_pc(frames[first])))
        first++;
    if (first != 0 && first + 1 < count &&
        frame_kind(frames[first]) == FRAME_RETURN &&
        frame_kind(frames[first + 1]) == FRAME_EXACT)
        first++;
    return first;
}
