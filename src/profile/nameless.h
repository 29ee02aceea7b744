/* SPDX-License-Identifier: MIT */
/*
 * nameless.h -- which files have code without names on the stacks of a profile,
 * and how much of its time that concerns. One row for each file, however often
 * it is mapped; generated code is the row of module 0.
 */
#ifndef PROFILE_NAMELESS_H
#define PROFILE_NAMELESS_H

#include <stdint.h>

#include "profile.h"

struct nameless_row {
    uint32_t module; /* the first one of this file */
    uint32_t number; /* for nameless.c */
    uint32_t places; /* addresses without a name */
    /* Of the stacks that have at least one of them. */
    uint64_t values[VALUE_COUNT];
};

/* The most CPU time comes first, then wall time. Files that have less than one
 * in NAMELESS_SMALL of both stand behind the others, if there are several: REST
 * is their sum, in which a stack with places of two of them counts once. */
struct nameless {
    struct nameless_row *rows; /* COUNT, then SMALL of them */
    uint32_t count, small;
    struct nameless_row rest;
};
#define NAMELESS_SMALL 200u

/* Looks up the symbols of all stacks that have samples. At most 64 files are
 * told. Returns 0, or -1 with errno set. */
int nameless_build(struct nameless *nameless, struct profile *profile);

void nameless_release(struct nameless *nameless);

#endif
