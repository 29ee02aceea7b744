/* SPDX-License-Identifier: MIT */
/*
 * diff.h -- what became slower and faster between two profiles, and which
 * changes are more than noise (significance.c).
 */
#ifndef VIEW_DIFF_H
#define VIEW_DIFF_H

#include <stdbool.h>
#include <stdint.h>

#include "model/profile.h"

struct intern;

/* A row of one profile. */
struct significance_sum {
    double value;   /* ns */
    double squares; /* ns^2, Q of significance.c */
    double sampled; /* the part of SQUARES by samples that depend on the rate */
};

/* The sums of two profiles over all rows, and the kind of comparison. */
struct significance_test {
    struct significance_sum old_total, new_total;
    double old_point, new_point; /* struct measure's; 0: alike */
    bool absolute;               /* compare sums, else shares */
};

/* The chance that OLD and NEW, rows of the totals in TEST, differ at least as
 * much as they do if nothing changed. *ERROR becomes half of the 95 % interval
 * of the row's change, in ns of the old profile's scale. */
double significance_chance(const struct significance_test *test,
                           const struct significance_sum *old,
                           const struct significance_sum *new, double *error);

/* The change of this row that four of five comparisons find if its chance must
 * be at most LEVEL; in ns of the old profile's scale. */
double significance_seen(const struct significance_test *test,
                         const struct significance_sum *old,
                         const struct significance_sum *new, double level);

/* The chance that NEW exceeds OLD by as much as it does if it is truly at most
 * RATIO times as much. */
double significance_chance_above(const struct significance_test *test,
                                 const struct significance_sum *old,
                                 const struct significance_sum *new,
                                 double ratio);

/* The number of points of both together. A row with few cannot be distinguished
 * from noise. It should not be tested, because each test makes the others less
 * sharp. */
double significance_points(const struct significance_sum *old,
                           const struct significance_sum *new);

/* Adjust the COUNT chances that CHANCES points to; the pointers are sorted. */
void significance_adjust(double **chances, uint32_t count);

/*
 * measure.c sums up a value of a profile by function or by stack, with how
 * well each sum is known (significance.c). Several profiles share the numbers
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
    double point; /* ns of a point of a thread that ran; 0: none is known */
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

struct diff_options {
    enum measure_by by;
    enum value value;
    bool absolute;     /* do not scale to the same total */
    double level;      /* accepted rate of false alarms, 0.01 */
    double least;      /* percent of the whole; less is no finding */
    double fail_above; /* percent; below 0: nothing fails */
};

/* A row. Times are ns. CHANGE is NEW_SCALED less OLD. */
struct diff_row {
    uint32_t number; /* number of the function or stack in NAMES */
    double old, new, new_scaled, change;
    double error;        /* half of the change's 95 % interval */
    double chance;       /* that it is noise, adjusted; 1: untested */
    double chance_above; /* that it is slower by at most FAIL_ABOVE */
    bool is_significant; /* not noise, and at least LEAST */
    bool fails;
};

struct diff {
    struct measure_names names;
    struct diff_row *rows; /* the largest change first */
    uint32_t count;
    uint32_t tested;               /* rows with enough points */
    double factor;                 /* multiplier of NEW */
    double old_points, new_points; /* effective sample sizes */
    double seen; /* ns: a change of any row that would have been found */
    struct diff_row total;
    bool is_total_open; /* it would fail if the comparison were absolute */
    enum measure_by by;
};

/*
 * Compare OLD and NEW, which must outlive DIFF. The total can fail only if the
 * comparison is absolute; it has no chance of its own. Returns 0, or -1 with
 * errno set if memory is short.
 */
int diff_build(struct diff *diff, struct profile *old, struct profile *new,
               const struct diff_options *options);

/* Find the row of a module that has much more, or less, code without names in
 * one profile than in the other: its functions may only seem new or gone. A
 * stack belongs to the module of its leaf. Such a row never fails. NULL if no
 * module is so. */
const struct diff_row *diff_find_nameless(const struct diff *diff);

/* Whether any row, or the total, fails. */
bool diff_fails(const struct diff *diff);

void diff_release(struct diff *diff);

/*
 * Whether both profiles are of runs of one command, so that their times can be
 * compared. Both then began with this command and ran it equally often. Its
 * arguments must be the same, and its program must have the same name. The
 * program may lie elsewhere, as another build of it does.
 */
bool diff_runs_are_alike(const struct profile *one, const struct profile *two);

#endif
