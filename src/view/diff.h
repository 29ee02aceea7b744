/* SPDX-License-Identifier: MIT */
/*
 * diff.h -- what became slower and faster between two profiles, and which
 * changes are more than noise (significance.h).
 */
#ifndef VIEW_DIFF_H
#define VIEW_DIFF_H

#include "measure.h"

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
    struct diff_row total;
    enum measure_by by;
};

/*
 * Compare OLD and NEW, which must outlive DIFF. The total can fail only if the
 * comparison is absolute; it has no chance of its own. Returns 0, or -1 with
 * errno set if memory is short.
 */
int diff_build(struct diff *diff, struct profile *old, struct profile *new,
               const struct diff_options *options);

/* Find the row of a module of which much more, or less, is without names in one
 * profile than in the other: functions of it that seem to be new or gone are
 * not. A stack belongs to the module of its leaf. Such a row never fails. NULL
 * if there is none. */
const struct diff_row *diff_find_nameless(const struct diff *diff);

/* Whether any row, or the total, fails. */
bool diff_fails(const struct diff *diff);

void diff_release(struct diff *diff);

/*
 * Whether both profiles are of runs of one command, so that their times can be
 * compared. Both then began with this command and ran it equally often. Its
 * arguments must be the same, and its program must have the same name. The
 * program may lie elsewhere, for example another build of it.
 */
bool diff_runs_are_alike(const struct profile *one, const struct profile *two);

#endif
