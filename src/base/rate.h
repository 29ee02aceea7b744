/* SPDX-License-Identifier: MIT */
/*
 * rate.h -- how many sample points were due, and why some of them were not
 * asked for. The CPU time of threads and the wanted rate say what was due:
 *
 *   due = taken + lost + not asked
 *
 * CPU time is kept by what limited the rate meanwhile (enum limit of loss.h).
 * What a limit's samples fall short of its points was not asked for because of
 * it. Pure functions, any context.
 */
#ifndef BASE_RATE_H
#define BASE_RATE_H

#include <stddef.h>
#include <stdint.h>

#include "loss.h"

struct text;

/* Points of one process, or the sums over several. */
struct rate {
    uint64_t cpu;                /* ns of CPU time, of all threads */
    uint64_t due[LIMIT_COUNT];   /* thousandths of a point */
    uint64_t taken[LIMIT_COUNT]; /* samples */
    uint64_t tick; /* ns between two ticks of the kernel, 0: not known */
};

/* Add to RATE what threads did under LIMIT: CPU ns, PERIOD ns of which make a
 * point, of which TAKEN became samples. PERIOD 0: nothing is added. */
void rate_add(struct rate *rate, enum limit limit, uint64_t cpu,
              uint64_t period, uint64_t taken);

/* Add MORE to RATE. */
void rate_merge(struct rate *rate, const struct rate *more);

/* Write the points that were not asked for to UNASKED, where ASKED points were
 * asked for. Returns how many were due: exactly ASKED and the sum of UNASKED.
 * By chance more may be asked for than the CPU time says; then these were due.
 */
uint64_t rate_points(const struct rate *rate, uint64_t asked,
                     uint64_t unasked[LIMIT_COUNT]);

/* Points a CPU second that were asked for, by RATE alone; 0 without CPU time.
 */
uint64_t rate_wanted(const struct rate *rate);

/* COUNT samples a CPU second of RATE; 0 without CPU time. */
uint64_t rate_reached(const struct rate *rate, uint64_t count);

/* What the samples of RATE were, of which TAKEN were taken and LOST were lost,
 * where WANTED were asked for in a CPU second:
 *
 *   225 a CPU second of 1,000 asked (timers, 250 Hz: threads switch too often)
 *   2 of 4 points due at 1,000 a CPU second (processes begin before they can be
 *   sampled)
 *
 * the second of a few points. The reasons stand there if one in twenty, or of a
 * few any, is missing. With a ROOM that is not 0 the words for the causes stand
 * for the reasons. Of these, all that do not fit into ROOM bytes of TEXT are
 * left out, but for the first.
 *
 *   225 a CPU second of 1,000 asked (switches, short)
 *   2 of 4 points due (early) */
void rate_tell(struct text *text, const struct rate *rate, uint64_t wanted,
               uint64_t taken, uint64_t lost, size_t room);

#endif
