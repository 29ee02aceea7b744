/* SPDX-License-Identifier: MIT */
/*
 * rates.c -- see rates.h. The run of a thread between two looks counts for the
 * limit at the first of them: a change of the trigger comes right before a
 * look.
 */
#include "base/clock.h"
#include "base/state.h"
#include "sampling/trigger/trigger.h"
#include "epoch.h"
#include "rates.h"

static OF_PROFILE bool is_sparing;

void
rates_spare(bool is_now_sparing)
{
    is_sparing = is_now_sparing;
}

/* Returns what limits the rate of the thread of ACCOUNT from now on. */
static enum limit
limit_of(const struct thread_time *account)
{
    enum limit limit = trigger_limit(account->trigger);
    bool is_timed = limit == LIMIT_TIMERS || limit == LIMIT_SWITCHES;
    uint64_t best = is_timed && clock_tick() > thread_time_period()
                        ? clock_tick()
                        : thread_time_period();
    if (epoch_period() > best && limit != LIMIT_TRACED)
        return LIMIT_COST;
    return limit == LIMIT_SAMPLER && is_sparing ? LIMIT_BUDGET : limit;
}

static enum limit
present_limit(const struct thread_time *account)
{
    return account->limit != LIMIT_COUNT ? account->limit : limit_of(account);
}

/* Whether perf gives no sample for the first period of the thread of ACCOUNT,
 * under LIMIT. */
static bool
skips_first(const struct thread_time *account, enum limit limit)
{
    return limit == LIMIT_MERGED || limit == LIMIT_KERNEL ||
           (limit == LIMIT_COST && account->trigger == TRIGGER_PERF);
}

/* Returns the CPU time up to CLOCK that is in no sum yet, and marks it as
 * counted. */
static uint64_t
take_new(struct thread_time *account, uint64_t clock)
{
    uint64_t ran = clock > account->rated ? clock - account->rated : 0;
    account->rated += ran;
    return ran;
}

void
rates_start(struct thread_time *account, uint64_t clock)
{
    thread_time_sums()->due_cpu[LIMIT_EARLY] += take_new(account, clock);
    account->rated_from = account->rated;
}

void
rates_measure(struct thread_time *account, uint64_t cpu)
{
    account->measured += cpu;
}

void
rates_run(struct thread_time *account, uint64_t clock)
{
    uint64_t *due = thread_time_sums()->due_cpu;
    enum limit limit = present_limit(account);
    uint64_t age = account->rated - account->rated_from;
    uint64_t young =
        age < thread_time_period() ? thread_time_period() - age : 0;
    uint64_t ran = take_new(account, clock);
    uint64_t measured = account->measured < ran ? account->measured : ran;
    account->measured -= measured;
    ran -= measured;
    if (young > ran)
        young = ran;
    if (!skips_first(account, limit))
        young = 0;
    due[LIMIT_SHORT] += young;
    due[limit] += ran - young;
    account->limit = limit_of(account);
}

void
rates_take(const struct thread_time *account, uint64_t clock)
{
    enum limit limit = present_limit(account);
    if (clock < account->rated_from)
        limit = LIMIT_EARLY;
    else if (skips_first(account, limit) &&
             clock - account->rated_from < thread_time_period())
        limit = LIMIT_SHORT;
    thread_time_sums()->due_taken[limit]++;
}

void
rates_unseen(uint64_t cpu)
{
    thread_time_sums()->due_cpu[LIMIT_SHORT] += cpu;
}

void
rates_sum(const struct journal_sums *sums, struct rate *rate)
{
    *rate = (struct rate){.tick = clock_tick()};
    for (unsigned i = 0; i < LIMIT_COUNT; i++)
        rate_add(rate, (enum limit)i, sums->due_cpu[i], thread_time_period(),
                 sums->due_taken[i]);
}
