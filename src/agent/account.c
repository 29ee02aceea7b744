/* SPDX-License-Identifier: MIT */
/* account.c -- the table of accounts; see account.h. Sampler thread alone. */
#include <stddef.h>

#include "base/sys.h"
#include "target/threads.h"
#include "account.h"

static struct account *accounts;
static uint32_t *active; /* indexes, in no order */
static uint32_t active_count;
static struct account_sums sums;
static uint64_t period;
static bool cpu_only;
static uint64_t quiet_until;

/* Room for the most threads there can be costs addresses alone: memory comes
 * with the first use of a page (sys_reserve). */
int
account_begin(uint64_t period_ns, bool running_only)
{
    accounts = sys_renew(accounts, THREADS_MAX * sizeof(*accounts));
    if (active == NULL)
        active = sys_reserve_for_one(THREADS_MAX * sizeof(*active));
    active_count = 0;
    sums = (struct account_sums){0};
    period = period_ns;
    cpu_only = running_only;
    quiet_until = 0;
    return accounts != NULL && active != NULL ? 0 : -1;
}

struct account *
account_of(uint32_t index)
{
    return &accounts[index];
}

struct account_sums *
account_sums(void)
{
    return &sums;
}

uint64_t
account_period(void)
{
    return period;
}

bool
account_is_cpu_only(void)
{
    return cpu_only;
}

void
account_forget(uint32_t index)
{
    account_deactivate(index);
    accounts[index] = (struct account){0};
}

void
account_open(uint32_t index, uint64_t clock, uint64_t start,
             enum trigger trigger)
{
    struct account_past past = accounts[index].past;
    account_deactivate(index);
    accounts[index] = (struct account){.base = clock - past.used,
                                       .rest = past.rest,
                                       .past = past,
                                       .given = clock,
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
                                       /* Until it is known to wait less. */
                                       .last_wait = UINT64_MAX,
                                       .is_new = true};
    account_activate(index);
}

void
account_ignore(uint32_t index)
{
    accounts[index] = (struct account){.past = accounts[index].past,
                                       .seen = accounts[index].seen,
                                       .is_ignored = true};
}

void
account_keep(uint32_t index, uint64_t cpu)
{
    struct account *account = &accounts[index];
    int64_t rest = account->rest;
    account->past.used = cpu;
    account->past.rest = rest < (int64_t)period ? rest : 0;
}

void
account_turn(uint32_t index)
{
    struct account *account = &accounts[index];
    account->base = account->seen;
    account->past.used = 0;
    account->wait = account->last = NULL;
    account->node = account->depth = 0;
    account->wait_node = account->wait_depth = 0;
    account->has_woken = false;
}

void
account_lose(struct account *account, enum loss cause)
{
    sums.lost[cause]++;
    if (account->in_flight) {
        account->in_flight = false;
        sums.in_flight--;
    }
}

void
account_confirm_quiet(uint64_t now)
{
    quiet_until = now;
}

void
account_activate(uint32_t index)
{
    struct account *account = &accounts[index];
    account->quiet = 0;
    if (account->is_active)
        return;
    account->is_active = account->has_run = true;
    if (account->wait_until < quiet_until)
        account->wait_until = quiet_until;
    account->active_place = active_count;
    active[active_count++] = index;
}

/* The last of the list takes the free place: its order says nothing, and
 * nothing has to move up. */
void
account_deactivate(uint32_t index)
{
    if (!accounts[index].is_active)
        return;
    accounts[index].is_active = false;
    uint32_t place = accounts[index].active_place;
    active[place] = active[--active_count];
    accounts[active[place]].active_place = place;
}

uint32_t
account_active_count(void)
{
    return active_count;
}

uint32_t
account_active_at(uint32_t i)
{
    return active[i];
}
