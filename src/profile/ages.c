/* SPDX-License-Identifier: MIT */
/*
 * ages.c -- masses and notes by age, see ages.h. Nothing here overflows,
 * whatever a spool says: masses stop at their limit, and a width is never
 * multiplied by more than fits in the CPU time at hand.
 */
#include "ages.h"

#include <string.h>

#include "profile.h"

/* Without a product, which could overflow. */
bool
ages_cover(uint64_t period, uint64_t age)
{
    return age / AGES_PERIODS < period;
}

/* Rounded down, so that the start of a bin is in it however its writer rounded:
 * what is left of the last period is in the last bin. */
void
ages_begin(struct ages *ages, uint64_t period)
{
    memset(ages, 0, sizeof *ages);
    ages->width = period / (AGES_BINS / AGES_PERIODS);
    if (ages->width == 0)
        ages->width = 1;
}

static unsigned
bin_of(const struct ages *ages, uint64_t age)
{
    uint64_t bin = age / ages->width;

    return bin < AGES_BINS - 1 ? (unsigned)bin : AGES_BINS - 1;
}

void
ages_add_thread(struct ages *ages, uint64_t cpu)
{
    unsigned last = bin_of(ages, cpu);

    for (unsigned i = 0; i < last; i++)
        profile_sum(&ages->bins[i].mass, ages->width);
    profile_sum(&ages->bins[last].mass, cpu - last * ages->width);
}

void
ages_add_mass(struct ages *ages, uint64_t age, uint64_t cpu)
{
    profile_sum(&ages->bins[bin_of(ages, age)].mass, cpu);
}

void
ages_add_note(struct ages *ages, uint64_t age)
{
    ages->bins[bin_of(ages, age)].notes++;
    ages->notes++;
}

/* A stratum ends where both it and the rest have enough notes, so that too few
 * are never left. */
void
ages_finish(struct ages *ages, uint64_t due)
{
    struct pool *stratum = ages->strata;
    struct pool all = {.due = due};
    uint64_t left = ages->notes;

    for (unsigned i = 0; i < AGES_BINS; i++)
        profile_sum(&all.weight, ages->bins[i].mass);
    for (unsigned i = 0; i < AGES_BINS; i++) {
        struct ages_bin *bin = &ages->bins[i];
        bin->stratum = (unsigned)(stratum - ages->strata);
        profile_sum(&stratum->due, pool_take(&all, bin->mass));
        stratum->weight += bin->notes;
        left -= bin->notes;
        if (stratum->weight >= AGES_LEAST && left >= AGES_LEAST)
            stratum++;
    }
}

uint64_t
ages_share(struct ages *ages, uint64_t age)
{
    const struct ages_bin *bin = &ages->bins[bin_of(ages, age)];

    return pool_take(&ages->strata[bin->stratum], 1);
}
