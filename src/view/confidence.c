/* SPDX-License-Identifier: MIT */
/*
 * confidence.c -- see confidence.h. The share p of a row has the variance of
 * n = T / ((1 - p) u + p u') points of one size (significance.c). U is the
 * weight of a mean point of the row, Q / V. By chance a row of few points may
 * have small ones only. So one point of the mean size of all counts among them.
 *
 * Wilson's interval holds for few points, too, also where all or none of them
 * are the row's. It is not symmetric, so its farther end is returned.
 */
#include <math.h>

#include "model/quality.h"
#include "confidence.h"

static const double points_least = 5;

double
confidence_squares(const struct profile *profile,
                   const struct profile_sample *sample, enum value value)
{
    double time = (double)sample->values[value];
    double cpu = (double)sample->values[VALUE_CPU];
    double count = (double)sample->values[VALUE_SAMPLES];
    if (sample->node == PROFILE_NOT_SAMPLED)
        return 0;
    if (sample->state == STATE_RUNNING && sample->squares > 0 && cpu > 0)
        return sample->squares * (time / cpu) * (time / cpu);
    if (sample->state != STATE_RUNNING)
        count *= quality_look_share(profile);
    return time * time / (count > 0 ? count : 1);
}

struct confidence
confidence_of(const struct profile *profile, enum value value)
{
    struct confidence sum = {.value = (double)profile->totals[value]};
    for (uint32_t i = 0; i < profile->sample_count; i++)
        sum.squares += confidence_squares(profile, &profile->samples[i], value);
    return sum;
}

double
confidence_points(const struct confidence *sum)
{
    return sum->squares > 0 ? sum->value * sum->value / sum->squares : 0;
}

/* Without points, time is known from a clock. The limit has room for rounding:
 * five equal points are five. */
bool
confidence_is_low(const struct confidence *sum)
{
    return (sum->squares > 0 || sum->value <= 0) &&
           confidence_points(sum) < points_least - 1e-6;
}

double
confidence_interval(const struct confidence *row,
                    const struct confidence *whole)
{
    if (whole->squares <= 0 || (row->value > 0 && row->squares <= 0))
        return 0;
    const double z = 1.96;
    double p = row->value / whole->value;
    double mean = whole->squares / whole->value;
    double own = (row->squares + mean * mean) / (row->value + mean);
    double rest = whole->value - row->value;
    double squares = whole->squares - row->squares;
    double other = rest > 0 && squares > 0 ? squares / rest : own;
    if (p > 1)
        p = 1;
    double n = whole->value / ((1 - p) * own + p * other);
    double centre = (p + z * z / (2 * n)) / (1 + z * z / n);
    double half =
        z / (1 + z * z / n) * sqrt(p * (1 - p) / n + z * z / (4 * n * n));
    return 100 * (fabs(centre - p) + half);
}
