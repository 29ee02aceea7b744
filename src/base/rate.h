/* SPDX-License-Identifier: MIT */
/*
 * rate.h -- how many sample points were due, and why some of them were not
 * asked for. The CPU time of threads and the wanted rate say what was due:
 *
 *   due = taken + lost + not asked
 *
 * CPU time is kept by the limit of the rate at the time (enum limit of loss.h).
 * If a limit has fewer samples than points, it is the reason for the
 * difference. Pure functions, any context.
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

/* Add to RATE what threads did under LIMIT: CPU ns, with a point every PERIOD
 * ns, and TAKEN samples. PERIOD 0 adds nothing. */
void rate_add(struct rate *rate, enum limit limit, uint64_t cpu,
              uint64_t period, uint64_t taken);

/* Add MORE to RATE. */
void rate_merge(struct rate *rate, const struct rate *more);

/* Write the points that were not asked for to UNASKED. ASKED points were asked
 * for. Returns how many were due: exactly ASKED plus the sum of UNASKED. By
 * chance ASKED may exceed what the CPU time says; then ASKED were due.
 */
uint64_t rate_points(const struct rate *rate, uint64_t asked,
                     uint64_t unasked[LIMIT_COUNT]);

/* Points a CPU second that the period of RATE asks for; 0 without CPU time.
 */
uint64_t rate_wanted(const struct rate *rate);

/* COUNT samples a CPU second of RATE; 0 without CPU time. */
uint64_t rate_reached(const struct rate *rate, uint64_t count);

/* Describe the samples of RATE: TAKEN were taken, LOST were lost, and WANTED a
 * CPU second were asked for:
 *
 *   225 a CPU second of 1,000 asked (timers, 250 Hz: threads switch too often)
 *   2 of 4 points due at 1,000 a CPU second (processes begin before they can be
 *   sampled)
 *
 * The second form is for few points. Reasons are given if one point in twenty
 * is missing, or any of few. If ROOM is not 0, the words for the causes replace
 * the reasons. Words that do not fit into ROOM bytes of TEXT are left out,
 * except the first.
 *
 *   225 a CPU second of 1,000 asked (switches, short)
 *   2 of 4 points due (early) */
void rate_tell(struct text *text, const struct rate *rate, uint64_t wanted,
               uint64_t taken, uint64_t lost, size_t room);

#endif
