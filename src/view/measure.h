/* SPDX-License-Identifier: MIT */
/*
 * measure.h -- sums up a value of a profile by function or by stack, with how
 * well each sum is known (significance.h). Several profiles share the numbers
 * of functions and stacks, so that they can be compared row by row. Two
 * functions of different builds are the same if these are:
 *
 *   - their names, without what a compiler adds for clones (".constprop.0");
 *   - their modules' names up to ".so", so versions of a library are one; the
 *     program itself is the program, whatever its file is called.
 *
 * Code without names is one function of its module, MEASURE_NAMELESS: addresses
 * of different builds cannot be compared.
 *
 * In stacks, a function that calls itself stands once: how deep a recursion was
 * when it was sampled differs from run to run.
 */
#ifndef VIEW_MEASURE_H
#define VIEW_MEASURE_H

#include "model/profile.h"
#include "significance.h"

struct intern;

#define MEASURE_NAMELESS "[no names]"

enum measure_by {
    MEASURE_FUNCTION,   /* spent in the function itself */
    MEASURE_CUMULATIVE, /* spent while it was on the stack */
    MEASURE_STACK,
};

/* The names of functions; and of stacks, by their last function and
 * the stack below. */
struct measure_names {
    struct intern *functions; /* "name", NUL, comparable module name */
    struct intern *stacks;    /* (stack below or INTERN_NONE, function) */
    const char **modules;     /* by function: the module's name */
    uint32_t module_count;
};

struct measure {
    struct significance_sum *sums; /* by number of function or stack */
    uint32_t count;                /* numbers that came later have no sum */
    struct significance_sum total;
};

/* Begin without names. Returns 0, or -1 if memory is short; measure_end_names
 * is due in both cases. */
int measure_begin_names(struct measure_names *names);

/* Sum up VALUE of PROFILE. If PROFILE keeps events (events.h), they say which
 * records a sample is made of; else each sample counts as one record. Returns
 * 0, or -1 with errno set if memory is short. */
int measure_take(struct measure *measure, struct measure_names *names,
                 struct profile *profile, enum measure_by by, enum value value);

/* The name of FUNCTION, and of its module as the last profile has it.
 * measure_function is valid until measure_end_names, the module as long as that
 * profile. */
const char *measure_function(const struct measure_names *names,
                             uint32_t function);
const char *measure_module(const struct measure_names *names,
                           uint32_t function);

/* The function at the end of STACK, and the stack below it; INTERN_NONE:
 * nothing. */
uint32_t measure_leaf(const struct measure_names *names, uint32_t stack);
uint32_t measure_below(const struct measure_names *names, uint32_t stack);

void measure_release(struct measure *measure);
void measure_end_names(struct measure_names *names);

#endif
