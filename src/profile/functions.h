/* SPDX-License-Identifier: MIT */
/*
 * functions.h -- sums for each function of a profile that grows: what was spent
 * in the function itself, and while it was on the stack (a recursion counts
 * once). Where table.h makes its rows from all samples, here they are brought
 * up to date with what is new, stack by stack. Part of watch.c.
 *
 * A place in code is named when the first stack with it comes, and keeps its
 * function until functions_forget.
 */
#ifndef PROFILE_FUNCTIONS_H
#define PROFILE_FUNCTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "span.h"

struct filter_options;
struct intern;

struct function {
    const char *name, *module; /* strings of the profile; "" for no module */
    struct span_sums self, total;
    uint64_t stamp; /* of the stack that was counted last */
    bool *matches;  /* by term of the filter; NULL if it has none */
};

/* What a node of the profile shows: COUNT numbers of functions in frames, from
 * FIRST on, the innermost first. 0 of them: it was not asked for yet. */
struct functions_place {
    uint32_t first, count;
};

struct functions {
    struct profile *profile;
    const struct filter_options *filter;
    struct intern *names;  /* (name, module) as numbers of strings */
    struct function *rows; /* by number of NAMES */
    uint32_t count;
    struct functions_place *places;
    uint32_t place_count;
    uint32_t *frames;
    uint32_t frame_count;
    uint64_t stamp;
    bool has_nameless; /* generated code without a name was met */
};

/* Both must outlive it. Returns 0, or -1 if memory is short; functions_release
 * is due in both cases. */
int functions_begin(struct functions *functions, struct profile *profile,
                    const struct filter_options *filter);

/* Name what is on the stack NODE. The others need this first. Returns 0, or -1
 * if memory is short. */
int functions_name(struct functions *functions, uint32_t node);

/* Whether the filter's expressions (not its labels) keep the stack NODE. */
bool functions_keep(const struct functions *functions, uint32_t node);

/* Count SUMS for the stack NODE. */
void functions_add(struct functions *functions, uint32_t node,
                   const struct span_sums *sums);

/* The interval is over. */
void functions_begin_interval(struct functions *functions);

/* Forget all sums and the names of all places. */
void functions_forget(struct functions *functions);

void functions_release(struct functions *functions);

#endif
