/* SPDX-License-Identifier: MIT */
/*
 * rate.c -- see rate.h. Thousandths of a point are kept because many processes
 * may have used less CPU time than one period each. Numbers may come from a
 * damaged file, so sums stop at their largest instead of wrapping.
 */
#include "rate.h"

#include <stddef.h>

#include "text.h"

#define NS_A_SECOND 1000000000u
#define PARTS 1000u /* of a point */

/* Of 64 bits, so that all sums of LIMIT_COUNT of them fit. */
#define MOST (UINT64_MAX >> 8)

/* A part of the points that is worth a reason; and of the reasons, one that is
 * worth to be named. */
#define PART_MISSING 20u
#define PART_NAMED 10u
#define FEW_MISSING 3u

static const struct {
    bool by_timers;
    const char *why;
} reasons[] = {
#define LIMIT(name, word, by_timers, why, text) {by_timers != 0, why},
    LIMIT_TABLE(LIMIT)
#undef LIMIT
};

static void
add_up(uint64_t *sum, uint64_t more)
{
    *sum = more < MOST - *sum ? *sum + more : MOST;
}

/* NUMBER * TIMES / BY, or the most there is. */
static uint64_t
scale(uint64_t number, uint64_t times, uint64_t by)
{
    __uint128_t result = (__uint128_t)number * times / (by != 0 ? by : 1);
    return result < MOST ? (uint64_t)result : MOST;
}

void
rate_add(struct rate *rate, enum limit limit, uint64_t cpu, uint64_t period,
         uint64_t taken)
{
    if (period == 0)
        return;
    add_up(&rate->cpu, cpu);
    add_up(&rate->due[limit], scale(cpu, PARTS, period));
    add_up(&rate->taken[limit], taken);
}

void
rate_merge(struct rate *rate, const struct rate *more)
{
    add_up(&rate->cpu, more->cpu);
    for (unsigned i = 0; i < LIMIT_COUNT; i++) {
        add_up(&rate->due[i], more->due[i]);
        add_up(&rate->taken[i], more->taken[i]);
    }
    if (more->tick > rate->tick)
        rate->tick = more->tick;
}

/* How many thousandths of LIMIT's points did not become samples. */
static uint64_t
missing(const struct rate *rate, unsigned limit)
{
    uint64_t taken = scale(rate->taken[limit], PARTS, 1);
    return rate->due[limit] > taken ? rate->due[limit] - taken : 0;
}

/* Each limit gets its part by sums, so that all parts together are exact. */
uint64_t
rate_points(const struct rate *rate, uint64_t asked,
            uint64_t unasked[LIMIT_COUNT])
{
    uint64_t due = 0, all = 0, passed = 0, given = 0;
    for (unsigned i = 0; i < LIMIT_COUNT; i++) {
        add_up(&due, rate->due[i]);
        add_up(&all, missing(rate, i));
    }
    due = (due + PARTS / 2) / PARTS;
    if (due < asked || all == 0)
        due = asked;
    for (unsigned i = 0; i < LIMIT_COUNT; i++) {
        add_up(&passed, missing(rate, i));
        uint64_t up_to = scale(due - asked, passed, all);
        unasked[i] = up_to - given;
        given = up_to;
    }
    return due;
}

uint64_t
rate_wanted(const struct rate *rate)
{
    uint64_t due = 0;
    for (unsigned i = 0; i < LIMIT_COUNT; i++)
        add_up(&due, rate->due[i]);
    return rate->cpu != 0 ? scale(due, NS_A_SECOND / PARTS, rate->cpu) : 0;
}

/* Microseconds are what a pprof file keeps. */
uint64_t
rate_reached(const struct rate *rate, uint64_t count)
{
    uint64_t us = rate->cpu / 1000;
    return us != 0 ? (scale(count, NS_A_SECOND, us) + 500) / 1000 : 0;
}

static void
add_reason(struct text *text, const struct rate *rate, unsigned limit)
{
    const char *why = reasons[limit].why;
    if (reasons[limit].by_timers)
        text_add(text, "timers");
    if (reasons[limit].by_timers && rate->tick != 0) {
        text_add(text, ", ");
        text_add_number(text, (NS_A_SECOND + rate->tick / 2) / rate->tick);
        text_add(text, " Hz");
    }
    if (reasons[limit].by_timers && why[0] != '\0')
        text_add(text, ": ");
    text_add(text, why);
}

/* Which of UNASKED is the largest. */
static unsigned
largest_of(const uint64_t unasked[LIMIT_COUNT])
{
    unsigned largest = 0;
    for (unsigned i = 1; i < LIMIT_COUNT; i++)
        if (unasked[i] > unasked[largest])
            largest = i;
    return largest;
}

/* The reasons in brackets, the largest first. */
static void
add_reasons(struct text *text, const struct rate *rate, uint64_t lost,
            uint64_t unasked[LIMIT_COUNT], uint64_t missed)
{
    const char *before = " (";
    if (lost >= missed / PART_NAMED && lost != 0) {
        text_add(text, before);
        text_add_grouped(text, lost);
        text_add(text, " lost");
        before = "; ";
    }
    for (;;) {
        unsigned limit = largest_of(unasked);
        if (unasked[limit] == 0 || unasked[limit] < missed / PART_NAMED)
            break;
        unasked[limit] = 0;
        text_add(text, before);
        add_reason(text, rate, limit);
        before = "; ";
    }
    text_add(text, before[0] == ';' ? ")" : "");
}

void
rate_tell(struct text *text, const struct rate *rate, uint64_t wanted,
          uint64_t taken, uint64_t lost)
{
    uint64_t unasked[LIMIT_COUNT];
    uint64_t due = rate_points(rate, taken + lost, unasked);
    uint64_t missed = due - taken;
    text_add_grouped(text, rate_reached(rate, taken));
    text_add(text, " a CPU second of ");
    text_add_grouped(text, wanted);
    text_add(text, " asked");
    if (missed >= FEW_MISSING && missed > due / PART_MISSING)
        add_reasons(text, rate, lost, unasked, missed);
}
