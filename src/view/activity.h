/* SPDX-License-Identifier: MIT */
/*
 * activity.h -- a profile as a table of what threads did, whatever their
 * stacks: they ran, waited for a CPU, or waited in a system call for something.
 */
#ifndef VIEW_ACTIVITY_H
#define VIEW_ACTIVITY_H

#include <stdint.h>

#include "model/profile.h"

struct activity_row {
    const char *state;    /* as profile_state */
    const char *waits_on; /* "" if unknown */
    uint64_t wall;        /* ns */
};

struct activity {
    struct activity_row *rows;
    uint32_t count;
};

/* Sum up what the threads of PROFILE did, the longest time first, then by name.
 * Returns 0, or -1 with errno set if memory is short. PROFILE must outlive
 * ACTIVITY. */
int activity_build(struct activity *activity, struct profile *profile);

void activity_release(struct activity *activity);

#endif
