/* SPDX-License-Identifier: MIT */
/*
 * vary.c -- see vary.h. The rate is drawn uniformly, so that it is right on
 * average. Every second draw mirrors the one before, so that the rate is right
 * in a short run, too.
 */
#include "base/clock.h"
#include "vary.h"

/* Least time between two changes: in ns, and in periods. The limits _NEW hold
 * if threads were made since. */
#define LEAST_NS 64000000u
#define LEAST_NEW_NS 8000000u
#define PERIODS 64u
#define PERIODS_NEW 8u

/* Least CPU time of the main thread between two changes, in periods, if it has
 * run at all. Two draws have the right average because they cover equal parts
 * of that time. */
#define RUN_PERIODS 64u
#define RUN_PERIODS_NEW 2u

void
vary_begin(struct vary *vary, uint64_t period)
{
    *vary = (struct vary){.period = period};
}

bool
vary_is_time(const struct vary *vary, uint64_t now, bool has_new)
{
    uint64_t least = has_new ? LEAST_NEW_NS : LEAST_NS;
    uint64_t periods = vary->period * (has_new ? PERIODS_NEW : PERIODS);
    return now - vary->changed >= (least > periods ? least : periods);
}

/* Returns a rate, in units in which PERIOD is the wanted rate. */
static uint64_t
draw_rate(struct vary *vary, uint64_t spread, uint64_t random)
{
    uint64_t rate = vary->mirrored, most = vary->period / spread;
    vary->mirrored = 0;
    if (rate != 0)
        return rate;
    rate = vary->period - most + random % (2 * most + 1);
    vary->mirrored = 2 * vary->period - rate;
    return rate;
}

uint64_t
vary_next(struct vary *vary, uint64_t now, uint64_t cpu, bool has_new,
          uint64_t spread, uint64_t random)
{
    uint64_t least = vary->period * (has_new ? RUN_PERIODS_NEW : RUN_PERIODS);
    uint64_t used = cpu != CLOCK_NONE ? cpu - vary->cpu : 0, rate;
    if (used != 0 && used < least)
        return 0;
    vary->changed = now;
    vary->cpu += used;
    rate = draw_rate(vary, spread, random);
    /* Raise the rate to make up for half a period that is lost in USED. */
    if (used != 0)
        rate += vary->period * vary->period / (2 * used);
    return vary->period * vary->period / rate;
}
