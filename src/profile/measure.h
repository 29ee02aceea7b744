/* SPDX-License-Identifier: MIT */
/*
 * measure.h -- a value of a profile, summed up by function or by stack, with
 * how well each sum is known (noise.h). Several profiles share the numbers of
 * functions and stacks, so that they can be compared row by row. What makes two
 * functions of different builds the same:
 *
 *   - their names, without what a compiler adds for clones (".constprop.0");
 *   - their modules' names up to ".so", so versions of a library are one; the
 *     program itself is the program, whatever its file is called.
 *
 * Code without names is one function of its module, MEASURE_NAMELESS: addresses
 * of different builds are not to be compared.
 *
 * In stacks, a function that calls itself stands once: how deep a recursion was
 * when it was sampled differs from run to run.
 */
#ifndef PROFILE_MEASURE_H
#define PROFILE_MEASURE_H

#include "noise.h"
#include "profile.h"

struct intern;

#define MEASURE_NAMELESS "[no names]"

enum measure_by {
    MEASURE_FUNCTION,   /* what was spent in the function itself */
    MEASURE_CUMULATIVE, /* while it was on the stack */
    MEASURE_STACK,
};

/* A function, or a stack: the function at its end and the stack below. */
struct measure_names {
    struct intern *functions; /* "name", NUL, what its module counts as */
    struct intern *stacks;    /* (stack below or INTERN_NONE, function) */
    const char **modules;     /* by function: the module's name */
    uint32_t module_count;
};

struct measure {
    struct noise_sum *sums; /* by number of function or stack */
    uint32_t count;         /* numbers that came later have no sum */
    struct noise_sum total;
};

/* Returns 0, or -1 if memory is short; measure_end_names is due in both cases.
 */
int measure_begin_names(struct measure_names *names);

/* Sum up VALUE of PROFILE. Its events (events.h), if it keeps them, say what
 * each sample is made of; else each is taken for one record. Returns 0, or -1
 * with errno set if memory is short. */
int measure_take(struct measure *measure, struct measure_names *names,
                 struct profile *profile, enum measure_by by, enum value value);

/* The function's name, and its module's as the last profile has it. */
const char *measure_function(const struct measure_names *names,
                             uint32_t function);
const char *measure_module(const struct measure_names *names,
                           uint32_t function);

/* The function at the end of STACK, and what is below it; INTERN_NONE: nothing.
 */
uint32_t measure_leaf(const struct measure_names *names, uint32_t stack);
uint32_t measure_below(const struct measure_names *names, uint32_t stack);

void measure_release(struct measure *measure);
void measure_end_names(struct measure_names *names);

#endif
