/* SPDX-License-Identifier: MIT */
/*
 * short_threads.c -- masses and notes by age, see short_threads.h. No value
 * overflows, whatever a spool says: masses stop at INT64_MAX, and a width is
 * never multiplied by more than fits in the CPU time at hand.
 */
#include <string.h>

#include "model/profile.h"
#include "short_threads.h"

/* A product could overflow; a quotient cannot. */
bool
short_threads_cover(uint64_t period, uint64_t age)
{
    return age / SHORT_THREADS_PERIODS < period;
}

/* The width is rounded down, so that the start of a bin is in it, whichever way
 * the writer of the spool rounded. The rest of the last period is in the last
 * bin. */
void
short_threads_begin(struct short_threads *threads, uint64_t period)
{
    memset(threads, 0, sizeof(*threads));
    threads->width = period / (SHORT_THREADS_BINS / SHORT_THREADS_PERIODS);
    if (threads->width == 0)
        threads->width = 1;
}

static unsigned
bin_of(const struct short_threads *threads, uint64_t age)
{
    uint64_t bin = age / threads->width;
    return bin < SHORT_THREADS_BINS - 1 ? (unsigned)bin
                                        : SHORT_THREADS_BINS - 1;
}

void
short_threads_add_thread(struct short_threads *threads, uint64_t cpu)
{
    unsigned last = bin_of(threads, cpu);
    for (unsigned i = 0; i < last; i++)
        sum_add(&threads->bins[i].mass, threads->width);
    sum_add(&threads->bins[last].mass, cpu - last * threads->width);
}

void
short_threads_add_mass(struct short_threads *threads, uint64_t age,
                       uint64_t cpu)
{
    struct share quarter = {.due = cpu, .weight = SHORT_THREADS_QUARTER};
    unsigned first =
        bin_of(threads, age) / SHORT_THREADS_QUARTER * SHORT_THREADS_QUARTER;
    for (unsigned i = first; i < first + SHORT_THREADS_QUARTER; i++)
        sum_add(&threads->bins[i].mass, share_take(&quarter, 1));
}

void
short_threads_add_note(struct short_threads *threads, uint64_t age)
{
    threads->bins[bin_of(threads, age)].notes++;
    threads->notes++;
}

/* Whether a new stratum begins with BIN. So it does if both the one before it
 * and the rest, of LEFT notes, have enough of them. */
static bool
begins_stratum(const struct short_threads_bin *bin, const struct share *before,
               uint64_t left)
{
    bool is_dense = bin->notes >= SHORT_THREADS_LEAST;
    uint64_t least = is_dense ? SHORT_THREADS_FEW : SHORT_THREADS_LEAST;
    return before->weight >= least && left >= SHORT_THREADS_LEAST;
}

/* No stratum has too few notes, unless all together have too few. */
void
short_threads_finish(struct short_threads *threads, uint64_t due)
{
    struct share *stratum = threads->strata;
    struct share all = {.due = due};
    uint64_t left = threads->notes;
    for (unsigned i = 0; i < SHORT_THREADS_BINS; i++)
        sum_add(&all.weight, threads->bins[i].mass);
    for (unsigned i = 0; i < SHORT_THREADS_BINS; i++) {
        struct short_threads_bin *bin = &threads->bins[i];
        if (begins_stratum(bin, stratum, left))
            stratum++;
        bin->stratum = (unsigned)(stratum - threads->strata);
        sum_add(&stratum->due, share_take(&all, bin->mass));
        stratum->weight += bin->notes;
        left -= bin->notes;
    }
}

uint64_t
short_threads_share(struct short_threads *threads, uint64_t age)
{
    const struct short_threads_bin *bin = &threads->bins[bin_of(threads, age)];
    return share_take(&threads->strata[bin->stratum], 1);
}
