/* SPDX-License-Identifier: MIT */
/*
 * nameless.h -- which files have code without names on the stacks of a profile,
 * and how much of its time that affects. Each file has one row, however often
 * it is mapped. Generated code is the row of module 0. The start of a thread
 * (clone3, start_thread) counts only where it has time of its own.
 */
#ifndef VIEW_NAMELESS_H
#define VIEW_NAMELESS_H

#include <stdint.h>

#include "model/profile.h"

/* A function without a name, with what was spent in it itself. */
struct nameless_function {
    const char *name; /* "module+0xoffset" */
    uint32_t row;     /* NUMBER of its row */
    uint32_t node;    /* one of its nodes */
    uint64_t values[VALUE_COUNT];
};

struct nameless_row {
    uint32_t module; /* first module of this file */
    uint32_t number;
    uint32_t places; /* addresses without a name */
    /* Sums of the stacks that have at least one of them. */
    uint64_t values[VALUE_COUNT];
};

/* The row with the most CPU time comes first, then wall time decides. Several
 * files with less than one in NAMELESS_SMALL of both come after the others.
 * REST is their sum, in which a stack with places of two files counts once. */
struct nameless {
    struct nameless_row *rows; /* COUNT rows, then SMALL small ones */
    uint32_t count, small;
    struct nameless_row rest;
    /* Of all files, the most CPU time first, then wall time decides. */
    struct nameless_function *functions;
    uint32_t function_count;
};
#define NAMELESS_SMALL 200u

/* Make the rows of PROFILE, at most 64. Looks up the symbols of all stacks with
 * samples. Returns 0, or -1 with errno set. */
int nameless_build(struct nameless *nameless, struct profile *profile);

void nameless_release(struct nameless *nameless);

#endif
