/* SPDX-License-Identifier: MIT */
/*
 * significance.c -- whether two sums of samples differ by more than sampling
 * explains.
 *
 * A sum V of samples is made of points: records that were taken independently
 * of each other, each with a weight w in ns. As a compound Poisson sum it has
 * the variance Q, the sum of w^2. One point of it stands for u = Q / V. It is
 * as precise as V / u points of one size (Kish's effective sample size, V^2 /
 * Q). One record of a wait is one point, however long it lasted.
 *
 * Shares p = V / T of two profiles (normalised) are compared by the
 * two-proportion z test with pooled p and continuity correction. It is in
 * Fleiss, Statistical Methods for Rates and Proportions, 2.3. The sample size
 * of a row is its effective one. For a ratio of compound Poisson sums the delta
 * method gives
 *
 *   Var(p) = ((1 - p)^2 Q + p^2 Q') / T^2 = p (1 - p) / n,
 *   n = T / ((1 - p) u + p u')          u', Q': of all that is not in the row
 *
 * This is the binomial variance if all points have the same weight.
 *
 * A row's u is that of both profiles together. The rate may have changed within
 * a run (epochs), and by chance a row that is seldom seen has small points
 * only. By its own u it would seem to be well known: of rows of 0.3 % with few
 * points, 7 % were found at a level of 0.1 % that way. The rates of the two
 * profiles may differ, too. So the points of running threads are scaled to the
 * other side, by the u of all of them. The time of a wait does not depend on
 * the rate.
 *
 * Sums (absolute) are compared by the score test of two Poisson rates: with the
 * mean m that both would have in common, Var = m (u_old + u_new).
 *
 * Many rows are tested at once, so chances are adjusted by Benjamini and
 * Hochberg (1995): of the rows with an adjusted chance of at most L, the
 * expected share of false ones is L. If nothing differs, L is the chance that
 * there is any. The test cannot know by how much two runs of the same program
 * differ beyond sampling: other load, other addresses, other input.
 */
#include <math.h>
#include <stdlib.h>

#include "diff.h"

/* One side of a row while it is tested. */
struct side {
    double value; /* share of the total, or ns */
    double point; /* what one point of the row adds to VALUE */
    double other; /* what one point of the rest adds; for shares */
};

/* What a point of the row stands for, in ns: U of the old side, and of the
 * new one. */
struct points {
    double old, new;
};

/* Returns how many times as much a point of a running thread stands for in the
 * new profile as in the old one. */
static double
rates_ratio(const struct significance_test *test)
{
    return test->old_point > 0 && test->new_point > 0
               ? test->new_point / test->old_point
               : 1;
}

/* Returns U of both sides, as if nothing had changed but the rates. */
static struct points
points_of_row(const struct significance_test *test,
              const struct significance_sum *old,
              const struct significance_sum *new)
{
    double ratio = rates_ratio(test);
    double before = test->absolute ? 1 : test->old_total.value;
    double after = test->absolute ? 1 : test->new_total.value;
    if (before <= 0 || after <= 0)
        before = after = 1;
    double value = old->value / before + new->value / after;
    double sampled = old->sampled / before + new->sampled / after / ratio;
    double exact = (old->squares - old->sampled) / before +
                   (new->squares - new->sampled) / after;
    if (value <= 0)
        return (struct points){0, 0};
    return (struct points){(sampled + exact) / value,
                           (sampled * ratio + exact) / value};
}

/* Make the side of a row whose points have POINT ns each. */
static struct side
side_of(const struct significance_test *test,
        const struct significance_sum *total,
        const struct significance_sum *row, double point)
{
    double rest = total->value - row->value;
    struct side side = {.value = row->value, .point = point};
    side.other = rest > 0 ? (total->squares - row->squares) / rest : side.point;
    if (test->absolute || total->value <= 0)
        return side;
    side.value /= total->value;
    side.point /= total->value;
    side.other = fmax(0, side.other) / total->value;
    return side;
}

/* The variance of SIDE's value if it were truly VALUE. */
static double
variance(const struct significance_test *test, const struct side *side,
         double value)
{
    if (test->absolute)
        return value * side->point;
    value = fmin(value, 1);
    return value * (1 - value) *
           ((1 - value) * side->point + value * side->other);
}

/* How many standard deviations the new value is above RATIO times the old one,
 * less half a point for the steps of counting. *DEVIATION becomes one standard
 * deviation. */
static double
distance(const struct significance_test *test, const struct side *old,
         const struct side *new, double ratio, double *deviation)
{
    *deviation = 0;
    if (old->point <= 0 || new->point <= 0)
        return 0;
    /* The most likely old value if the new one is RATIO times as much. */
    double points = old->value / old->point + new->value / new->point;
    double common = points / (1 / old->point + ratio / new->point);
    *deviation = sqrt(variance(test, new, ratio * common) +
                      ratio * ratio * variance(test, old, common));
    double difference = new->value - ratio * old->value;
    double step = (new->point + ratio * old->point) / 2;
    if (*deviation <= 0 || fabs(difference) <= step)
        return 0;
    return (difference > 0 ? difference - step : difference + step) /
           *deviation;
}

double
significance_chance(const struct significance_test *test,
                    const struct significance_sum *old,
                    const struct significance_sum *new, double *error)
{
    struct points points = points_of_row(test, old, new);
    struct side before = side_of(test, &test->old_total, old, points.old);
    struct side after = side_of(test, &test->new_total, new, points.new);
    double deviation;
    double z = distance(test, &before, &after, 1, &deviation);
    *error = 1.96 * deviation + (before.point + after.point) / 2;
    if (!test->absolute)
        *error *= test->old_total.value;
    return erfc(fabs(z) / sqrt(2));
}

/* Returns how many standard deviations are passed, in either direction, with
 * CHANCE. */
static double
deviations_of(double chance)
{
    double low = 0, high = 38; /* erfc becomes 0 */
    for (unsigned i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        if (erfc(middle / sqrt(2)) > chance)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Half of all changes are measured as smaller than they are. One fifth are so
 * by 0.84 standard deviations or more. */
double
significance_seen(const struct significance_test *test,
                  const struct significance_sum *old,
                  const struct significance_sum *new, double level)
{
    struct points points = points_of_row(test, old, new);
    struct side before = side_of(test, &test->old_total, old, points.old);
    struct side after = side_of(test, &test->new_total, new, points.new);
    double deviation;
    distance(test, &before, &after, 1, &deviation);
    double seen = (deviations_of(level) + 0.84) * deviation +
                  (before.point + after.point) / 2;
    return test->absolute ? seen : seen * test->old_total.value;
}

double
significance_chance_above(const struct significance_test *test,
                          const struct significance_sum *old,
                          const struct significance_sum *new, double ratio)
{
    struct points points = points_of_row(test, old, new);
    struct side before = side_of(test, &test->old_total, old, points.old);
    struct side after = side_of(test, &test->new_total, new, points.new);
    double deviation;
    return erfc(distance(test, &before, &after, ratio, &deviation) / sqrt(2)) /
           2;
}

double
significance_points(const struct significance_sum *old,
                    const struct significance_sum *new)
{
    double points = 0;
    if (old->squares > 0)
        points += old->value * old->value / old->squares;
    if (new->squares > 0)
        points += new->value *new->value / new->squares;
    return points;
}

/* For qsort: the smallest first. */
static int
compare_chances(const void *a, const void *b)
{
    const double *one = *(const double *const *)a;
    const double *two = *(const double *const *)b;
    return (*one > *two) - (*one < *two);
}

/* From the largest to the smallest: a chance times the number of rows over its
 * rank, and never more than that of a larger one. */
void
significance_adjust(double **chances, uint32_t count)
{
    double least = 1;
    if (count > 0)
        qsort(chances, count, sizeof(*chances), compare_chances);
    for (uint32_t i = count; i > 0; i--) {
        least = fmin(least, *chances[i - 1] * count / i);
        *chances[i - 1] = least;
    }
}
