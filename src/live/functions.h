/* SPDX-License-Identifier: MIT */
/*
 * functions.h -- sums for each function of a profile that grows. SELF is what
 * was spent in the function itself; TOTAL is what was spent while it was on the
 * stack (a recursion counts once). table.h makes its rows from all samples;
 * here each new stack is added to the rows. Part of watch.c.
 *
 * A place in code is named when the first stack that contains it comes. It
 * keeps its function until functions_forget.
 */
#ifndef LIVE_FUNCTIONS_H
#define LIVE_FUNCTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/profile.h"

/* A live view counts the same values for the latest interval and for all the
 * time. */
enum span { SPAN_INTERVAL, SPAN_ALL, SPAN_COUNT };

/* The sum of an interval may be negative. A wait that was believed to go on may
 * have ended already; the surplus is then taken back. */
struct span_sums {
    int64_t values[SPAN_COUNT][VALUE_COUNT];
};

/* *TO += VALUE. Numbers of a damaged spool may wrap; the sum is then
 * meaningless. */
static inline void
span_add(int64_t *to, int64_t value)
{
    *to = (int64_t)((uint64_t)*to + (uint64_t)value);
}

static inline void
span_add_sums(struct span_sums *to, const struct span_sums *sums)
{
    for (unsigned i = 0; i < SPAN_COUNT; i++)
        for (unsigned j = 0; j < VALUE_COUNT; j++)
            span_add(&to->values[i][j], sums->values[i][j]);
}

/* End the interval: the next one begins with zeros. */
static inline void
span_begin(struct span_sums *sums)
{
    for (unsigned j = 0; j < VALUE_COUNT; j++)
        sums->values[SPAN_INTERVAL][j] = 0;
}

struct filter_options;
struct intern;

struct function {
    const char *name, *module; /* strings of the profile; "": no module */
    struct span_sums self, total;
    uint64_t stamp; /* of the stack that was counted last */
    bool *matches;  /* by term of the filter; NULL without a filter */
};

/* The functions at a node of the profile: COUNT entries of FRAMES from FIRST
 * on, the innermost first. COUNT is 0 until the node is named. */
struct functions_place {
    uint32_t first, count;
};

struct functions {
    struct profile *profile;
    const struct filter_options *filter;
    struct intern *names;  /* (name, module) as numbers of strings */
    struct function *rows; /* by number in NAMES */
    uint32_t count;
    struct functions_place *places;
    uint32_t place_count;
    uint32_t *frames;
    uint32_t frame_count;
    uint64_t stamp;
    bool has_nameless; /* a stack had generated code without a name */
};

/* Begin without functions. PROFILE and FILTER must outlive FUNCTIONS. Returns
 * 0, or -1 if memory is short; the caller calls functions_release in both
 * cases. */
int functions_begin(struct functions *functions, struct profile *profile,
                    const struct filter_options *filter);

/* Name the functions on the stack NODE. Call it before functions_keep and
 * functions_add. Returns 0, or -1 if memory is short. */
int functions_name(struct functions *functions, uint32_t node);

/* Whether the filter's expressions (not its labels) keep the stack NODE. */
bool functions_keep(const struct functions *functions, uint32_t node);

/* Add SUMS to the functions on the stack NODE. */
void functions_add(struct functions *functions, uint32_t node,
                   const struct span_sums *sums);

/* End the interval: the next one begins with zeros. */
void functions_begin_interval(struct functions *functions);

/* Forget all sums and the names of all places. */
void functions_forget(struct functions *functions);

void functions_release(struct functions *functions);

#endif
