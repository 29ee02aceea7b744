/* SPDX-License-Identifier: MIT */
/*
 * cost.h -- an account of what sampling costs, and the rate that it leaves.
 *
 * Sampling may cost a share of the CPU time of the threads that run. A part of
 * what the first ten seconds allow may be spent at once:
 *
 *   may be spent                                     ALLOWED ns a CPU second
 *     ^                                         .-'
 *     |                                     .-'
 *     |                      .---'------'
 *     |       .---'------'                 a line from START to all that ten
 *     START -'                             seconds allow
 *     +--------------------------------+---------> CPU time
 *     0                               10 s
 *
 * While less than that is spent, the rate is the one that was asked for. So a
 * short run has samples, and a run of ten seconds is within its share. From
 * then on the rate is what can be afforded in the ten seconds to come, so that
 * a debt is paid back in that time. These are pure functions.
 * Context: sampler.
 */
#ifndef SAMPLING_COST_H
#define SAMPLING_COST_H

#include <stdbool.h>
#include <stdint.h>

struct cost {
    uint64_t allowed; /* ns that it may cost in a CPU second; 0: any */
    uint64_t start;   /* ns that it may cost beyond that at first */
    uint64_t cpu;     /* ns that threads ran */
    uint64_t taken;   /* samples of them */
    uint64_t spent;   /* ns that sampling cost */
    uint64_t fixed;   /* ns of it that a lower rate would not have saved */
    uint64_t each;    /* ns that a sample cost lately; 0: not known */
    uint64_t changed; /* ns that threads had run at the last change of rate */
    bool is_short;    /* START is spent: the rate follows the account */
};

/* Begin an account in which nothing is spent. ALLOWED as above. */
void cost_begin(struct cost *cost, uint64_t allowed);

/* Begin the account of a forked child. It goes on with what its parent has left
 * of START, and has a quarter of START at least. */
void cost_begin_child(struct cost *cost, uint64_t allowed);

/* Threads have run for CPU ns in all. Since the last call TAKEN samples have
 * cost SPENT ns, and FIXED ns were spent that no sample cost. Of the latter no
 * more than half of what is allowed counts: a lower rate would not save it. */
void cost_note(struct cost *cost, uint64_t cpu, uint64_t taken, uint64_t spent,
               uint64_t fixed);

/* Returns the period, in ns of CPU time, that can be afforded now where ASKED
 * is asked for and PRESENT is the present one. It is PRESENT unless the
 * difference is worth a change. */
uint64_t cost_period(struct cost *cost, uint64_t asked, uint64_t present);

#endif
