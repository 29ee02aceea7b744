/* SPDX-License-Identifier: MIT */
/* own_frames.c -- see own_frames.h. */
#include <stddef.h>

#include "process/modules.h"
#include "own_frames.h"
#include "base/poison.h"

bool
own_frames_has(uint64_t pc)
{
    const struct module *own = modules_find((uint64_t)own_frames_has);
    return own != NULL && pc >= own->start && pc < own->end;
}

/* A handler returns into a frame of libc, which no function has called. The
 * frame behind it was interrupted, so its pc is no return address. */
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
