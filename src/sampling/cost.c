/* SPDX-License-Identifier: MIT */
/* cost.c -- see cost.h. */
#include "base/clock.h"
#include "cost.h"

/* CPU time after which START is paid back, and the least time for which a rate
 * is planned, in ns. */
#define LONG_NS (10ull * NS_PER_SECOND)

/* START is the allowance of one second: a tenth of that of the first ten
 * seconds. A forked child has at least 1 / CHILD_PART of START. */
#define CHILD_PART 4u

/* The plan leaves 1 / RESERVE of what may be spent for errors of the model. */
#define RESERVE 10u

/* Longest CPU time, in ns, for which the rate is the wanted one.
 */
#define FULL_NS NS_PER_SECOND

/* The period grows if the new one is longer by more than 1 / SHORT. It shrinks
 * if the new one is shorter by more than 1 / LONG. Since the last change
 * LEAST_NS ns of CPU time must have passed, and 1 / SHARE of all CPU time. So a
 * long run has few changes. */
#define SHORT 16u
#define LONG 4u
#define LEAST_NS (2ull * NS_PER_SECOND)
#define SHARE 16u

void
cost_begin(struct cost *cost, uint64_t allowed, uint64_t longest)
{
    uint64_t plan = allowed - allowed / RESERVE;
    *cost = (struct cost){.plan = plan, .start = plan, .longest = longest};
}

/* Returns the ns that may be spent while threads run for CPU ns. */
static uint64_t
allowance(const struct cost *cost, uint64_t cpu)
{
    __uint128_t whole = cost->plan;
    if (cpu >= LONG_NS)
        return cost->granted + (uint64_t)(whole * cpu / NS_PER_SECOND);
    __uint128_t later = whole * (LONG_NS / NS_PER_SECOND) - cost->start;
    return cost->granted + cost->start + (uint64_t)(later * cpu / LONG_NS);
}

void
cost_begin_child(struct cost *cost, uint64_t allowed, uint64_t longest)
{
    uint64_t due = allowance(cost, cost->cpu);
    uint64_t left =
        !cost->is_short && due > cost->spent ? due - cost->spent : 0;
    cost_begin(cost, allowed, longest);
    uint64_t least = cost->start / CHILD_PART;
    if (left < cost->start)
        cost->start = left > least ? left : least;
}

void
cost_note(struct cost *cost, uint64_t cpu, uint64_t taken, uint64_t spent,
          uint64_t fixed)
{
    uint64_t most = allowance(cost, cpu) / 2;
    cost->cpu = cpu;
    cost->taken += taken;
    if (fixed > most - cost->fixed)
        fixed = most - cost->fixed;
    cost->fixed += fixed;
    cost->spent += spent + fixed;
    if (taken == 0)
        return;
    uint64_t each = spent / taken;
    cost->each = cost->each == 0 ? each : (3 * cost->each + each) / 4;
}

void
cost_forgive(struct cost *cost)
{
    uint64_t due = allowance(cost, cost->cpu);
    if (cost->spent > due)
        cost->granted += cost->spent - due;
}

/* Returns the ns of CPU time for which a rate is planned. The next change may
 * come before their end. */
static uint64_t
planned(const struct cost *cost)
{
    uint64_t later = cost->cpu / SHARE * 2;
    return later > LONG_NS ? later : LONG_NS;
}

/* Returns the period at which samples spend in the planned time what may be
 * spent by its end, but at least a quarter of what this time allows. */
static uint64_t
affordable(const struct cost *cost)
{
    uint64_t ahead = planned(cost);
    uint64_t then = allowance(cost, cost->cpu + ahead);
    uint64_t more = then - allowance(cost, cost->cpu);
    __uint128_t fixed = (__uint128_t)cost->fixed * ahead;
    fixed /= cost->cpu != 0 ? cost->cpu : 1;
    uint64_t spent =
        cost->spent + (fixed < more / 2 ? (uint64_t)fixed : more / 2);
    uint64_t room = then > spent ? then - spent : 0;
    if (room < more / 4)
        room = more / 4;
    __uint128_t period =
        (__uint128_t)cost->each * ahead / (room != 0 ? room : 1);
    return period < cost->longest ? (uint64_t)period : cost->longest;
}

/* Whether the period NEW differs enough from PRESENT to be worth a change. */
static bool
is_worth_it(const struct cost *cost, uint64_t new, uint64_t present)
{
    uint64_t since = cost->cpu - cost->changed;
    return since >= LEAST_NS && since >= cost->cpu / SHARE &&
           (new > present + present / SHORT || new < present - present / LONG);
}

uint64_t
cost_period(struct cost *cost, uint64_t asked, uint64_t present)
{
    bool was_short = cost->is_short;
    if (cost->plan == 0 || cost->each == 0)
        return present;
    cost->is_short |=
        cost->spent >= allowance(cost, cost->cpu) || cost->cpu >= FULL_NS;
    if (!cost->is_short)
        return present;
    uint64_t period = affordable(cost);
    if (period < asked)
        period = asked;
    if (was_short ? !is_worth_it(cost, period, present) : period <= asked)
        return present;
    cost->changed = cost->cpu;
    return period;
}
