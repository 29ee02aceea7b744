/* SPDX-License-Identifier: MIT */
/*
 * cost.h -- an account of what sampling costs, and the rate that it allows.
 *
 * Sampling may cost a share of the CPU time of the threads that run. PLAN is
 * nine tenths of that share. The rest is for errors of the model: with all of
 * it planned, runs of ten seconds cost 0.91 to 1.03 times the share
 * (tests/bench/sample_cost.py). A part of what the plan has for the first ten
 * seconds, START, may be spent at once:
 *
 *   may be spent                                        PLAN ns a CPU second
 *     ^                                         .-'
 *     |                                     .-'
 *     |                      .---'------'
 *     |       .---'------'                 a line from START to all that ten
 *     START -'                             seconds allow
 *     +--------------------------------+---------> CPU time
 *     0                               10 s
 *
 * Until that is spent, and for a second of CPU time at most, the rate is the
 * wanted one. So a short run has samples, and a run of ten seconds is within
 * its share. After that, the rate is planned for the next ten seconds or more,
 * and no period is longer than LONGEST. A debt is paid back in this time. These
 * functions use nothing but the account. Context: sampler.
 */
#ifndef SAMPLING_COST_H
#define SAMPLING_COST_H

#include <stdbool.h>
#include <stdint.h>

struct cost {
    uint64_t plan;    /* planned cost in ns a CPU second; 0: any */
    uint64_t start;   /* ns that may be spent at once */
    uint64_t granted; /* ns that may be spent beyond PLAN and START */
    uint64_t longest; /* ns of the longest period, whatever it costs */
    uint64_t cpu;     /* ns that threads ran */
    uint64_t taken;   /* samples of threads that ran */
    uint64_t spent;   /* ns that sampling cost */
    uint64_t fixed;   /* ns of SPENT that a lower rate would not have saved */
    uint64_t each;    /* ns that a sample cost lately; 0: not known */
    uint64_t changed; /* CPU at the last change of the rate */
    bool is_short;    /* SPENT has reached the line: the rate is planned */
};

/* Begin an empty account. ALLOWED is the limit of the cost in ns a CPU second;
 * 0: any cost. LONGEST is the longest period, in ns. */
void cost_begin(struct cost *cost, uint64_t allowed, uint64_t longest);

/* Begin the account of a forked child. Its START is the rest in COST, its
 * parent's account: at most the whole START, and at least a quarter. */
void cost_begin_child(struct cost *cost, uint64_t allowed, uint64_t longest);

/* Threads have run for CPU ns in all. Since the last call TAKEN samples have
 * cost SPENT ns. Ticks have cost FIXED ns, which a lower rate would not save.
 * All FIXED ns together count up to half of what may be spent. */
void cost_note(struct cost *cost, uint64_t cpu, uint64_t taken, uint64_t spent,
               uint64_t fixed);

/* Do not pay back what was spent beyond the line. */
void cost_forgive(struct cost *cost);

/* Returns the period, in ns of CPU time, that can be afforded now. It is no
 * shorter than ASKED, the period that was asked for. It is PRESENT, the present
 * period, unless a change is worth it. */
uint64_t cost_period(struct cost *cost, uint64_t asked, uint64_t present);

#endif
