/* SPDX-License-Identifier: MIT */
/*
 * diff.h -- what became slower and faster between two profiles, and which of it
 * is more than noise (noise.h).
 */
#ifndef PROFILE_DIFF_H
#define PROFILE_DIFF_H

#include "measure.h"

struct diff_options {
    enum measure_by by;
    enum value value;
    bool absolute;     /* do not scale to the same total */
    double level;      /* of false alarms, 0.01 */
    double least;      /* percent of the whole that a change has to be */
    double fail_above; /* percent; less than 0: nothing fails */
};

/* Times are ns. CHANGE is what NEW_SCALED has more than OLD. */
struct diff_row {
    uint32_t number; /* of the function or stack in NAMES */
    double old, new, new_scaled, change;
    double error;  /* of the change: 95 % are within +- this */
    double chance; /* that it is noise, adjusted for all rows; 1: not tested */
    double chance_above; /* that it is not slower by more than FAIL_ABOVE */
    bool is_significant; /* and at least LEAST */
    bool fails;
};

struct diff {
    struct measure_names names;
    struct diff_row *rows; /* the largest change first */
    uint32_t count;
    uint32_t tested;               /* rows with enough points */
    double factor;                 /* NEW is multiplied by this */
    double old_points, new_points; /* that would be as good, of equal size */
    struct diff_row total;
    enum measure_by by;
};

/*
 * Compare OLD and NEW, which must outlive DIFF. The total fails only if the
 * comparison is absolute; it has no chance of its own. Returns 0, or -1 with
 * errno set if memory is short.
 */
int diff_build(struct diff *diff, struct profile *old, struct profile *new,
               const struct diff_options *options);

/* The row of a module of which much more, or less, is without names in one
 * profile than in the other, NULL if there is none: functions of it that seem
 * to be new or gone are not. A stack is told by its leaf. Such a row never
 * fails. */
const struct diff_row *diff_find_nameless(const struct diff *diff);

/* Whether any row, or the total, fails. */
bool diff_fails(const struct diff *diff);

void diff_release(struct diff *diff);

#endif
