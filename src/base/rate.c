/* SPDX-License-Identifier: MIT */
/*
 * rate.c -- see rate.h. Thousandths of a point are kept because many processes
 * may have used less CPU time than one period each. Numbers may come from a
 * damaged file, so sums stop at their largest instead of wrapping.
 */
#include <stdbool.h>
#include <stddef.h>

#include "text.h"
#include "rate.h"
#include "poison.h"

#define NS_A_SECOND 1000000000u
#define PARTS 1000u /* of a point */

/* Limit of a 64-bit number, so that any sum of LIMIT_COUNT of them fits. */
#define MOST (UINT64_MAX >> 8)

/* Reasons are given if 1 / PART_MISSING of the points are missing. A reason is
 * named if it explains 1 / PART_NAMED of these. */
#define PART_MISSING 20u
#define PART_NAMED 10u
#define FEW_MISSING 3u

/* For fewer points than this, their number says more than a rate. */
#define FEW_POINTS 20u

/* Room for all words of a short sentence. */
#define WORDS_SIZE 256

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

/* NUMBER * TIMES / BY, or the largest number. */
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

/* A pprof file keeps microseconds. */
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

/* The text about a rate. */
struct telling {
    const struct rate *rate;
    uint64_t wanted, taken, lost, due;
    uint64_t unasked[LIMIT_COUNT]; /* 0 once it is written */
    size_t room; /* bytes for the whole, in words; 0: in sentences */
};

/* Whether enough points are missing to give reasons. */
static bool
is_notable(const struct telling *telling)
{
    uint64_t missed = telling->due - telling->taken;
    if (telling->due < FEW_POINTS)
        return missed != 0;
    return missed >= FEW_MISSING && missed > telling->due / PART_MISSING;
}

/* Write BEFORE and the next reason. Returns whether there was one, and room for
 * it; the first is written in any case. */
static bool
add_next(struct text *text, struct telling *telling, const char *before)
{
    char line[WORDS_SIZE];
    struct text word;
    uint64_t least = (telling->due - telling->taken) / PART_NAMED;
    unsigned limit = largest_of(telling->unasked);
    text_begin(&word, line, sizeof(line));
    text_add(&word, before);
    if (telling->lost != 0 && telling->lost >= least) {
        text_add_grouped(&word, telling->lost);
        text_add(&word, " lost");
        telling->lost = 0;
    } else if (telling->unasked[limit] != 0 &&
               telling->unasked[limit] >= least) {
        telling->unasked[limit] = 0;
        if (telling->room != 0)
            text_add(&word, limit_word(limit));
        else
            add_reason(&word, telling->rate, limit);
    } else {
        return false;
    }
    if (telling->room != 0 && before[0] != ' ' &&
        text->length + word.length + 1 > telling->room)
        return false;
    text_add(text, line);
    return true;
}

/* The reasons in brackets, lost ones first, then the largest. */
static void
add_reasons(struct text *text, struct telling *telling)
{
    const char *between = telling->room != 0 ? ", " : "; ";
    if (!add_next(text, telling, " ("))
        return;
    while (add_next(text, telling, between))
        continue;
    text_add(text, ")");
}

/* The number of samples among few points. */
static void
add_few(struct text *text, const struct telling *telling)
{
    if (telling->due == 0) {
        text_add(text, "less than one point");
    } else {
        text_add_grouped(text, telling->taken);
        text_add(text, " of ");
        text_add_grouped(text, telling->due);
        text_add(text, telling->due == 1 ? " point" : " points");
    }
    text_add(text, telling->room != 0 ? " due" : " due at ");
    if (telling->room != 0)
        return;
    text_add_grouped(text, telling->wanted);
    text_add(text, " a CPU second");
}

/* Whether chance explains that there are more than were asked for: threads and
 * times are drawn. The square root of their number is more than three standard
 * deviations. */
static bool
is_by_chance(const struct telling *telling)
{
    uint64_t due =
        (uint64_t)((double)telling->rate->cpu / 1e9 * (double)telling->wanted);
    uint64_t more = telling->taken > due ? telling->taken - due : 0;
    return more * more <= telling->taken;
}

void
rate_tell(struct text *text, const struct rate *rate, uint64_t wanted,
          uint64_t taken, uint64_t lost, size_t room)
{
    struct telling telling = {.rate = rate,
                              .wanted = wanted,
                              .taken = taken,
                              .lost = lost,
                              .room = room};
    uint64_t reached = rate_reached(rate, taken);
    telling.due = rate_points(rate, taken + lost, telling.unasked);
    if (telling.due < FEW_POINTS) {
        add_few(text, &telling);
    } else {
        text_add_grouped(text, reached);
        text_add(text, " a CPU second of ");
        text_add_grouped(text, wanted);
        text_add(text, " asked");
        if (reached > wanted)
            text_add(text, is_by_chance(&telling) ? ", more by chance"
                                                  : ", more than drawn");
    }
    if (is_notable(&telling))
        add_reasons(text, &telling);
}
