/* SPDX-License-Identifier: MIT */
/*
 * activity.h -- a profile as a table of what threads did, whatever their
 * stacks: they ran, waited for a CPU, or waited in a system call for something.
 */
#ifndef PROFILE_ACTIVITY_H
#define PROFILE_ACTIVITY_H

#include <stdint.h>

#include "profile.h"

struct activity_row {
    const char *state;    /* see profile_state */
    const char *waits_on; /* "" if that is not known */
    uint64_t wall;        /* ns */
};

struct activity {
    struct activity_row *rows;
    uint32_t count;
};

/* All that threads of PROFILE did, the longest first, then by name. Returns 0,
 * or -1 with errno set if memory is short. The profile must outlive it. */
int activity_build(struct activity *activity, struct profile *profile);

void activity_release(struct activity *activity);

#endif
