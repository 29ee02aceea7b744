/* SPDX-License-Identifier: MIT */
/* thread_time.c -- see thread_time.h. A table by thread index. */
#include <stddef.h>

#include "base/state.h"
#include "base/sys.h"
#include "process/threads.h"
#include "capture/waiting.h"
#include "thread_time.h"

static struct thread_time *accounts;
static uint32_t *active; /* indexes, in no order */
static OF_PROFILE uint32_t active_count;
static OF_PROFILE struct journal_sums sums;
static const struct settings *settings;
static OF_PROFILE uint64_t quiet_until;

/* Room for the greatest number of threads costs addresses alone: a page takes
 * memory when it is first used (sys_reserve). */
int
thread_time_begin(const struct settings *given)
{
    accounts = sys_renew(accounts, THREADS_MAX * sizeof(*accounts));
    if (active == NULL)
        active = sys_reserve_for_one(THREADS_MAX * sizeof(*active));
    settings = given;
    return accounts != NULL && active != NULL ? 0 : -1;
}

struct thread_time *
thread_time_of(uint32_t index)
{
    return &accounts[index];
}

struct journal_sums *
thread_time_sums(void)
{
    return &sums;
}

uint64_t
thread_time_period(void)
{
    return settings->period;
}

bool
thread_time_is_cpu_only(void)
{
    return settings->options->mode.number == OPTION_MODE_CPU;
}

void
thread_time_forget(uint32_t index)
{
    waiting_forget(index);
    thread_time_deactivate(index);
    accounts[index] = (struct thread_time){0};
}

void
thread_time_open(uint32_t index, uint64_t clock, uint64_t start,
                 enum trigger trigger)
{
    struct thread_time_past past = accounts[index].past;
    uint64_t epoch_used = past.used != 0 ? accounts[index].epoch_used : 0;
    thread_time_deactivate(index);
    accounts[index] = (struct thread_time){.base = clock - past.used,
                                           .rest = past.rest,
                                           .past = past,
                                           .epoch_used = epoch_used,
                                           .reached = clock,
                                           .checked = clock,
                                           .seen = clock,
                                           .seen_at = start,
                                           .known_from = start,
                                           .wait_until = start,
                                           .woke_clock = clock,
                                           .ticks_clock = clock,
                                           .rated = clock,
                                           .rated_from = clock,
                                           .limit = LIMIT_COUNT,
                                           .trigger = trigger,
                                           /* Until a shorter wait is seen. */
                                           .last_wait = UINT64_MAX,
                                           .is_new = true};
    thread_time_activate(index);
}

void
thread_time_ignore(uint32_t index)
{
    accounts[index] =
        (struct thread_time){.past = accounts[index].past,
                             .epoch_used = accounts[index].epoch_used,
                             .seen = accounts[index].seen,
                             .is_ignored = true};
}

void
thread_time_keep(uint32_t index, uint64_t cpu)
{
    struct thread_time *account = &accounts[index];
    int64_t rest = account->rest;
    account->past.used = cpu;
    account->past.rest = rest < (int64_t)settings->period ? rest : 0;
}

void
thread_time_rotate(uint32_t index)
{
    struct thread_time *account = &accounts[index];
    account->base = account->seen;
    account->past.used = account->epoch_used = account->asked_for = 0;
    account->live_place = account->live_cpu = 0;
    account->wait = account->last = NULL;
    account->ran_at = account->waited_at = account->stood_at =
        account->line_at = account->told_at = (struct journal_place){0};
    account->has_woken = false;
    account->held = account->stood = account->timed = 0;
    for (uint32_t i = 0; i < SHARED_SITES; i++) {
        account->sites[i].place.node = 0;
        account->sites[i].is_known = false;
    }
}

void
thread_time_lose(struct thread_time *account, enum loss cause)
{
    if (account->asks_place)
        sums.counts.asked--;
    else
        sums.lost[cause]++;
    if (account->in_flight) {
        account->in_flight = false;
        sums.in_flight--;
    }
}

void
thread_time_confirm_quiet(uint64_t now)
{
    quiet_until = now;
}

void
thread_time_activate(uint32_t index)
{
    struct thread_time *account = &accounts[index];
    account->quiet = 0;
    if (account->is_active)
        return;
    account->is_active = account->has_run = true;
    if (account->wait_until < quiet_until)
        account->wait_until = quiet_until;
    account->active_place = active_count;
    active[active_count++] = index;
}

/* The last entry of the list takes the free place: the list has no order, so no
 * other entry has to move. */
void
thread_time_deactivate(uint32_t index)
{
    if (!accounts[index].is_active)
        return;
    accounts[index].is_active = false;
    uint32_t place = accounts[index].active_place;
    active[place] = active[--active_count];
    accounts[active[place]].active_place = place;
}

uint32_t
thread_time_active_count(void)
{
    return active_count;
}

uint32_t
thread_time_active_at(uint32_t i)
{
    return active[i];
}
