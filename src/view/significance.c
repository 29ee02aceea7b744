/* SPDX-License-Identifier: MIT */
/* significance.c -- the arithmetic of significance.h. */
#include <math.h>
#include <stdlib.h>

#include "significance.h"

/* One side of a row while it is tested. */
struct side {
    double value; /* share of the total, or ns */
    double point; /* what one point of the row adds to VALUE */
    double other; /* what one point of the rest adds; for shares */
};

/* Make the side of a row. A row that has nothing on this side has points as
 * large as on the other one. */
static struct side
side_of(const struct significance_test *test,
        const struct significance_sum *total,
        const struct significance_sum *row,
        const struct significance_sum *counterpart)
{
    const struct significance_sum *known = row->value > 0 ? row : counterpart;
    double rest = total->value - row->value;
    struct side side = {.value = row->value};
    side.point = known->value > 0 ? known->squares / known->value : 0;
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
 * less half a point for the steps of counting. *DEVIATION becomes one of
 * them. */
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
    struct side before = side_of(test, &test->old_total, old, new);
    struct side after = side_of(test, &test->new_total, new, old);
    double deviation;
    double z = distance(test, &before, &after, 1, &deviation);
    *error = 1.96 * deviation + (before.point + after.point) / 2;
    if (!test->absolute)
        *error *= test->old_total.value;
    return erfc(fabs(z) / sqrt(2));
}

double
significance_chance_above(const struct significance_test *test,
                          const struct significance_sum *old,
                          const struct significance_sum *new, double ratio)
{
    struct side before = side_of(test, &test->old_total, old, new);
    struct side after = side_of(test, &test->new_total, new, old);
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
