/* SPDX-License-Identifier: MIT */
/*
 * confidence.h -- how well a share of the time of a profile is known. It does
 * for one profile what significance.c does for two:
 *
 *   CPU time   a point is a sample of a running thread
 *   wall time  a point is that, or one look at a thread that does not run
 *
 * A point has a weight, its time. So a sum is known as well as one of V^2 / Q
 * points of one size (Kish), where Q is the sum of the squares of the weights.
 */
#ifndef VIEW_CONFIDENCE_H
#define VIEW_CONFIDENCE_H

#include <stdbool.h>

#include "model/profile.h"

struct confidence {
    double value;   /* ns */
    double squares; /* ns^2 */
};

/* The square sum of VALUE of SAMPLE of PROFILE, in ns^2. [not sampled] is no
 * sample: its time is known from a clock, and adds nothing. */
double confidence_squares(const struct profile *profile,
                          const struct profile_sample *sample,
                          enum value value);

/* VALUE of all samples of PROFILE. */
struct confidence confidence_of(const struct profile *profile,
                                enum value value);

/* The number of points of one size that would be as precise. */
double confidence_points(const struct confidence *sum);

/* A row of fewer points shows little more than that it exists. */
bool confidence_is_low(const struct confidence *sum);

/* With a probability of 95 % the share that ROW truly has of WHOLE differs from
 * the measured one by at most this, in percent. A row without a point has an
 * interval, too: its largest possible share. Time that is known from a clock
 * alone has none.
 */
double confidence_interval(const struct confidence *row,
                           const struct confidence *whole);

#endif
