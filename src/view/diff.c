/* SPDX-License-Identifier: MIT */
/*
 * diff.c -- makes one row for each function or stack in which any of the two
 * profiles has time. A row is a finding if its change is too large for noise,
 * and large enough to matter. The second is needed because two runs are never
 * quite the same, and with enough samples every difference is significant.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "diff.h"

/* Minimum of sample points in both profiles together; with fewer nothing would
 * be significant. */
static const double points_least = 5;

/* The state of a comparison. */
struct comparison {
    struct diff *diff;
    const struct diff_options *options;
    struct measure old, new;
    struct significance_test test;
};

/* A number of the later profile alone is beyond the sums of the first one,
 * where its sum is 0. */
static struct significance_sum
sum_of(const struct measure *measure, uint32_t number)
{
    return number < measure->count ? measure->sums[number]
                                   : (struct significance_sum){0};
}

/* Make a row with its times, still untested. */
static struct diff_row
make_row(const struct diff *diff, uint32_t number,
         const struct significance_sum *old, const struct significance_sum *new)
{
    struct diff_row row = {
        .number = number,
        .old = old->value,
        .new = new->value,
        .new_scaled = new->value * diff->factor,
        .chance = 1,
        .chance_above = 1,
    };
    row.change = row.new_scaled - row.old;
    return row;
}

/* Both measures number the same names, so a number is one row in both. */
static int
make_rows(struct comparison *comparison)
{
    struct diff *diff = comparison->diff;
    uint32_t count = comparison->new.count > comparison->old.count
                         ? comparison->new.count
                         : comparison->old.count;
    for (uint32_t i = 0; i < count; i++) {
        struct significance_sum old = sum_of(&comparison->old, i);
        struct significance_sum new = sum_of(&comparison->new, i);
        if (old.value <= 0 && new.value <= 0)
            continue;
        if (!ARRAY_GROW(diff->rows, diff->count))
            return -1;
        diff->rows[diff->count++] = make_row(diff, i, &old, &new);
    }
    return 0;
}

/* Test the rows that have enough points, and adjust their chances together.
 * ABOVE: test whether they are slower by more than is allowed. Returns 0, or -1
 * if memory is short. */
static int
test_rows(struct comparison *comparison, bool above)
{
    struct diff *diff = comparison->diff;
    const struct significance_test *test = &comparison->test;
    double ratio = 1 + comparison->options->fail_above / 100;
    double **chances = malloc((diff->count + 1u) * sizeof(*chances));
    if (chances == NULL)
        return -1;
    diff->tested = 0;
    for (uint32_t i = 0; i < diff->count; i++) {
        struct diff_row *row = &diff->rows[i];
        struct significance_sum old = sum_of(&comparison->old, row->number);
        struct significance_sum new = sum_of(&comparison->new, row->number);
        double chance =
            above ? significance_chance_above(test, &old, &new, ratio)
                  : significance_chance(test, &old, &new, &row->error);
        if (significance_points(&old, &new) < points_least)
            continue;
        chances[diff->tested] = above ? &row->chance_above : &row->chance;
        *chances[diff->tested++] = chance;
    }
    significance_adjust(chances, diff->tested);
    free(chances);
    return 0;
}

/* Find the largest change that may have been overlooked. A change that is the
 * only one among the tested rows has to pass the level divided by their
 * number. */
static void
find_seen(struct comparison *comparison)
{
    struct diff *diff = comparison->diff;
    double level =
        comparison->options->level / (diff->tested > 0 ? diff->tested : 1);
    for (uint32_t i = 0; i < diff->count; i++) {
        struct significance_sum old =
            sum_of(&comparison->old, diff->rows[i].number);
        struct significance_sum new =
            sum_of(&comparison->new, diff->rows[i].number);
        diff->seen = fmax(diff->seen, significance_seen(&comparison->test, &old,
                                                        &new, level));
    }
}

/* Whether ROW is code without names, or a stack that ends there. */
static bool
is_nameless(const struct diff *diff, const struct diff_row *row)
{
    uint32_t function = row->number;
    if (diff->by == MEASURE_STACK)
        function = measure_leaf(&diff->names, function);
    return strcmp(measure_function(&diff->names, function), MEASURE_NAMELESS) ==
           0;
}

/* Decide from the chances and sizes which rows are significant, and which
 * fail. */
static void
test_totals(struct comparison *comparison)
{
    const struct diff_options *options = comparison->options;
    struct diff *diff = comparison->diff;
    double least = comparison->test.old_total.value * options->least / 100;
    for (uint32_t i = 0; i < diff->count; i++) {
        struct diff_row *row = &diff->rows[i];
        row->is_significant =
            row->chance <= options->level && fabs(row->change) >= least;
        row->fails = options->fail_above >= 0 && row->change >= least &&
                     row->chance_above <= options->level &&
                     !is_nameless(diff, row);
    }
    diff->total.is_significant =
        options->absolute && fabs(diff->total.change) >= least;
    double change = diff->total.new - diff->total.old;
    bool is_slower = options->fail_above >= 0 && change >= least &&
                     change > diff->total.old * options->fail_above / 100;
    diff->total.fails = options->absolute && is_slower;
    diff->is_total_open = !options->absolute && is_slower;
}

/* For qsort: the largest change first; ties as they were named. */
static int
compare_rows(const void *a, const void *b)
{
    const struct diff_row *one = a, *two = b;
    double first = fabs(one->change), second = fabs(two->change);
    int order = (first < second) - (first > second);
    return order != 0
               ? order
               : (one->number > two->number) - (one->number < two->number);
}

/* The effective sample size: as many samples of equal size would be as
 * noisy. */
static double
points_of(const struct significance_sum *total)
{
    return total->squares > 0 ? total->value * total->value / total->squares
                              : 0;
}

/* FACTOR scales NEW to the total of OLD: with 10 s in OLD and 20 s in NEW, all
 * of NEW counts half. */
static int
compare_all(struct comparison *comparison)
{
    struct diff *diff = comparison->diff;
    const struct significance_sum *old = &comparison->old.total;
    const struct significance_sum *new = &comparison->new.total;
    comparison->test = (struct significance_test){
        .old_total = *old,
        .new_total = *new,
        .old_point = comparison->old.point,
        .new_point = comparison->new.point,
        .absolute = comparison->options->absolute,
    };
    diff->factor = 1;
    if (!comparison->options->absolute && old->value > 0 && new->value > 0)
        diff->factor = old->value / new->value;
    diff->old_points = points_of(old);
    diff->new_points = points_of(new);
    diff->total = make_row(diff, 0, old, new);
    if (make_rows(comparison) != 0 || test_rows(comparison, false) != 0 ||
        (comparison->options->fail_above >= 0 &&
         test_rows(comparison, true) != 0))
        return -1;
    test_totals(comparison);
    find_seen(comparison);
    if (diff->count > 0)
        qsort(diff->rows, diff->count, sizeof(*diff->rows), compare_rows);
    return 0;
}

int
diff_build(struct diff *diff, struct profile *old, struct profile *new,
           const struct diff_options *options)
{
    struct comparison comparison = {.diff = diff, .options = options};
    int status = -1;
    *diff = (struct diff){.by = options->by};
    if (measure_begin_names(&diff->names) == 0 &&
        measure_take(&comparison.old, &diff->names, old, options->by,
                     options->value) == 0 &&
        measure_take(&comparison.new, &diff->names, new, options->by,
                     options->value) == 0)
        status = compare_all(&comparison);
    measure_release(&comparison.old);
    measure_release(&comparison.new);
    if (status != 0) {
        diff_release(diff);
        errno = ENOMEM;
    }
    return status;
}

const struct diff_row *
diff_find_nameless(const struct diff *diff)
{
    for (uint32_t i = 0; i < diff->count; i++)
        if (diff->rows[i].is_significant && is_nameless(diff, &diff->rows[i]))
            return &diff->rows[i];
    return NULL;
}

bool
diff_fails(const struct diff *diff)
{
    bool fails = diff->total.fails;
    for (uint32_t i = 0; i < diff->count; i++)
        fails |= diff->rows[i].fails;
    return fails;
}

void
diff_release(struct diff *diff)
{
    measure_end_names(&diff->names);
    free(diff->rows);
    *diff = (struct diff){0};
}

/* The process that began first; NULL if there is none. */
static const struct profile_process *
first_process(const struct profile *profile)
{
    const struct profile_process *first = NULL;
    for (uint32_t i = 0; i < profile->process_count; i++) {
        const struct profile_process *process = &profile->processes[i];
        if (first == NULL || process->start < first->start)
            first = process;
    }
    return first;
}

/* COMMAND without the directories of its program, whose path ends at the first
 * blank. */
static const char *
plain(const char *command)
{
    const char *blank = strchrnul(command, ' ');
    const char *slash = memrchr(command, '/', (size_t)(blank - command));
    return slash != NULL ? slash + 1 : command;
}

/* The number of runs of COMMAND in PROFILE: that of the processes with it.
 * Several images of one process, with one pid, count once. */
static uint32_t
count_runs(const struct profile *profile, const char *command)
{
    uint32_t times = 0, last = 0;
    for (uint32_t i = 0; i < profile->process_count; i++) {
        const struct profile_process *process = &profile->processes[i];
        if (strcmp(plain(process->command), command) != 0)
            continue;
        times += times == 0 || process->pid != last;
        last = process->pid;
    }
    return times;
}

bool
diff_runs_are_alike(const struct profile *one, const struct profile *two)
{
    const struct profile_process *first = first_process(one);
    const struct profile_process *second = first_process(two);
    if (first == NULL || second == NULL || first->command[0] == '\0')
        return false;
    const char *command = plain(first->command);
    return strcmp(command, plain(second->command)) == 0 &&
           count_runs(one, command) == count_runs(two, command);
}
