/* SPDX-License-Identifier: MIT */
/*
 * ages.c -- masses and notes by age, see ages.h. No value overflows, whatever a
 * spool says: masses stop at INT64_MAX, and a width is never multiplied by more
 * than fits in the CPU time at hand.
 */
#include <string.h>

#include "model/profile.h"
#include "ages.h"

/* A product could overflow; a quotient cannot. */
bool
ages_cover(uint64_t period, uint64_t age)
{
    return age / AGES_PERIODS < period;
}

/* The width is rounded down, so that the start of a bin is in it however the
 * writer of the spool rounded. The rest of the last period is in the last
 * bin. */
void
ages_begin(struct ages *ages, uint64_t period)
{
    memset(ages, 0, sizeof(*ages));
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
        sum_add(&ages->bins[i].mass, ages->width);
    sum_add(&ages->bins[last].mass, cpu - last * ages->width);
}

void
ages_add_mass(struct ages *ages, uint64_t age, uint64_t cpu)
{
    sum_add(&ages->bins[bin_of(ages, age)].mass, cpu);
}

void
ages_add_note(struct ages *ages, uint64_t age)
{
    ages->bins[bin_of(ages, age)].notes++;
    ages->notes++;
}

/* A stratum ends where both it and the rest have enough notes. So no stratum
 * has too few, unless all together have too few. */
void
ages_finish(struct ages *ages, uint64_t due)
{
    struct share *stratum = ages->strata;
    struct share all = {.due = due};
    uint64_t left = ages->notes;
    for (unsigned i = 0; i < AGES_BINS; i++)
        sum_add(&all.weight, ages->bins[i].mass);
    for (unsigned i = 0; i < AGES_BINS; i++) {
        struct ages_bin *bin = &ages->bins[i];
        bin->stratum = (unsigned)(stratum - ages->strata);
        sum_add(&stratum->due, share_take(&all, bin->mass));
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
    return share_take(&ages->strata[bin->stratum], 1);
}
