/* SPDX-License-Identifier: MIT */
/*
 * significance.h -- whether two sums of samples differ by more than sampling
 * explains.
 *
 * A sum V of samples is made of points: records that were taken independently
 * of each other, each with a weight w in ns. As a compound Poisson sum it has
 * the variance Q, the sum of w^2. One point of it stands for u = Q / V. As good
 * would be V / u points of one size (Kish's effective sample size, V^2 / Q).
 * One record of a wait is one point, however long it lasted.
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
 * Sums (absolute) are compared by the score test of two Poisson rates: with the
 * mean m that both would have in common, Var = m (u_old + u_new).
 *
 * Many rows are tested at once, so chances are adjusted by Benjamini and
 * Hochberg (1995): of the rows with an adjusted chance of at most L, the
 * expected share of false ones is L. If nothing differs, L is the chance that
 * there is any. The test cannot know by how much two runs of the same program
 * differ beyond sampling: other load, other addresses, other input.
 */
#ifndef VIEW_SIGNIFICANCE_H
#define VIEW_SIGNIFICANCE_H

#include <stdbool.h>
#include <stdint.h>

/* A row of one profile. */
struct significance_sum {
    double value;   /* ns */
    double squares; /* ns^2, Q above */
};

/* The sums of two profiles over all rows, and what is compared. */
struct significance_test {
    struct significance_sum old_total, new_total;
    bool absolute; /* compare sums, else shares */
};

/* The chance that OLD and NEW, rows of the totals in TEST, differ at least as
 * much as they do if nothing changed. *ERROR becomes half of the 95 % interval
 * of the row's change, in ns of the old profile's scale. */
double significance_chance(const struct significance_test *test,
                           const struct significance_sum *old,
                           const struct significance_sum *new, double *error);

/* The chance that NEW exceeds OLD by as much as it does if it is truly at most
 * RATIO times as much. */
double significance_chance_above(const struct significance_test *test,
                                 const struct significance_sum *old,
                                 const struct significance_sum *new,
                                 double ratio);

/* How many points both have together. A row with few cannot be told from noise,
 * whatever it shows. It should not be tested, because each test makes the
 * others less sharp. */
double significance_points(const struct significance_sum *old,
                           const struct significance_sum *new);

/* Adjust the COUNT chances that CHANCES points to; the pointers are sorted. */
void significance_adjust(double **chances, uint32_t count);

#endif
