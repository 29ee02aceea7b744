/* SPDX-License-Identifier: MIT */
/*
 * wait_times.c -- see wait_times.h.
 *
 * The hard thing is what a look does not know. A call has CPU time, too, which
 * samples show. The hooks read it in some calls, and the others are taken to
 * have as much. The kernel shows how long a thread stood in line, but not in
 * which call: each call that is over gets an equal part. Two callers may make a
 * call at the same depth of the stack. The caller that a look has found last
 * gets the time, which is right on average.
 */
#include "base/state.h"
#include "capture/waiting.h"
#include "journal/journal.h"
#include "alarms.h"
#include "wait_times.h"

/* A thread measures its calls for CALM_LOOKS looks after it has waited. */
#define CALM_LOOKS 8u

/* The time at one place is shown when it reaches SHOW_NS ns. */
#define SHOW_NS 16000000u

/* A site gives its place to a new one if it had less than 1 / OLD_PART of the
 * time of all sites in OLD_LOOKS looks in a row. */
#define OLD_PART 64u
#define OLD_LOOKS 64u

void
wait_times_begin(struct thread_time *account, uint32_t index, uint64_t now)
{
    struct waiting_time times[SHARED_SITES];
    account->is_timed = true;
    account->calm = 0;
    (void)waiting_times(index, now, times);
    for (uint32_t i = 0; i < SHARED_SITES; i++)
        account->sites[i] = (struct wait_site){.id = times[i].id,
                                               .given = times[i].ns,
                                               .calls = times[i].calls};
    waiting_measure(index, true);
}

void
wait_times_measure(struct thread_time *account, uint32_t index, bool has_waited,
                   uint64_t now)
{
    account->calm = has_waited ? 0 : account->calm + 1;
    if (account->is_timed && account->calm >= CALM_LOOKS)
        wait_times_flush(account, index, now, true);
    else if (!account->is_timed && has_waited && !account->has_labels)
        wait_times_begin(account, index, now);
}

/* Show that the thread was in STATE at SITE for NS up to NOW. */
static void
show(struct thread_time *account, uint32_t index, const struct wait_site *site,
     enum state state, uint64_t ns, uint64_t now)
{
    if (ns == 0)
        return;
    struct record_sample sample =
        journal_make_sample(state, site->place, now - ns, now);
    sample.count = ns > thread_time_period() ? ns / thread_time_period() : 1;
    if (state == STATE_WAITING && site->is_known) {
        sample.system_call = site->system_call;
        sample.waits_on = site->waits_on;
    }
    if (journal_sample(&sample, index) == 0)
        account->rest += (int64_t)ns;
    account->last = NULL;
}

static void
show_site(struct thread_time *account, uint32_t index, struct wait_site *site,
          uint64_t now)
{
    uint64_t waited = site->waited, queued = site->queued;
    site->waited = site->queued = 0;
    /* If too much was given before, it is taken back here. */
    if (account->rest < 0) {
        uint64_t over = (uint64_t)-account->rest;
        over = over < waited ? over : waited;
        waited -= over;
        account->rest += (int64_t)over;
    }
    show(account, index, site, STATE_WAITING, waited, now);
    show(account, index, site, STATE_RUNQUEUE, queued, now);
}

void
wait_times_flush(struct thread_time *account, uint32_t index, uint64_t now,
                 bool is_last)
{
    if (!account->is_timed)
        return;
    for (uint32_t i = 0; i < SHARED_SITES; i++) {
        struct wait_site *site = &account->sites[i];
        if (site->place.node != 0) {
            show_site(account, index, site, now);
        } else if (is_last) {
            account->rest += (int64_t)(site->waited + site->queued);
            site->waited = site->queued = 0;
        }
    }
    if (is_last) {
        account->is_timed = false;
        waiting_measure(index, false);
    }
}

/* From now on SITE is another one, with ID. */
static void
begin_site(struct thread_time *account, uint32_t index, struct wait_site *site,
           uint64_t id, uint64_t now)
{
    if (site->place.node != 0)
        show_site(account, index, site, now);
    account->rest += (int64_t)(site->waited + site->queued);
    *site = (struct wait_site){.id = id};
}

uint64_t
wait_times_take(struct thread_time *account, uint32_t index, uint64_t queued,
                uint64_t now)
{
    struct waiting_time times[SHARED_SITES];
    uint64_t fresh[SHARED_SITES], calls[SHARED_SITES];
    uint64_t sum = 0, all_calls = 0;
    if (!account->is_timed)
        return queued;
    uint32_t own = waiting_times(index, now, times);
    for (uint32_t i = 0; i < SHARED_SITES; i++) {
        struct wait_site *site = &account->sites[i];
        if (times[i].id != site->id && times[i].id != 0)
            begin_site(account, index, site, times[i].id, now);
        uint64_t passed =
            times[i].ns > site->given ? times[i].ns - site->given : 0;
        fresh[i] = waiting_idle(&times[i], passed);
        calls[i] =
            times[i].calls > site->calls ? times[i].calls - site->calls : 0;
        site->given += passed;
        site->calls += calls[i];
        sum += fresh[i];
        all_calls += fresh[i] != 0 ? calls[i] : 0;
    }
    if (sum == 0)
        return queued;
    if (all_calls == 0 && own < SHARED_SITES)
        all_calls = calls[own] = 1;
    account->rest -= (int64_t)sum;
    account->stood_at.node = 0;
    account->held = account->stood = 0;
    account->has_woken = false;
    uint64_t rest = account->rest > 0 ? (uint64_t)account->rest : 0;
    uint64_t outside = queued < rest ? queued : rest;
    queued -= outside;
    alarms_see_queue(queued);
    for (uint32_t i = 0; i < SHARED_SITES; i++) {
        struct wait_site *site = &account->sites[i];
        uint64_t part =
            fresh[i] != 0 && all_calls != 0 ? queued * calls[i] / all_calls : 0;
        part = part < fresh[i] ? part : fresh[i];
        site->queued += part;
        site->waited += fresh[i] - part;
        site->old = fresh[i] > sum / OLD_PART ? 0 : site->old + 1;
        if (site->old == 0 || site->old == OLD_LOOKS)
            waiting_retire(index, i, site->old != 0);
        if (site->place.node != 0 && site->queued + site->waited >= SHOW_NS)
            show_site(account, index, site, now);
    }
    return outside;
}

bool
wait_times_close(struct thread_time *account, uint64_t until)
{
    if (account->timed == 0)
        return false;
    struct wait_site *site = &account->sites[account->timed - 1];
    site->given += until > account->opened_at ? until - account->opened_at : 0;
    site->system_call = account->latest.record.system_call;
    site->waits_on = account->latest.record.waits_on;
    site->is_known = true;
    account->timed = 0;
    return true;
}

bool
wait_times_find(struct thread_time *account, uint32_t index,
                const struct journal_place *place, uint64_t now, uint64_t *ns)
{
    struct waiting_time times[SHARED_SITES];
    account->timed = 0;
    if (!account->is_timed)
        return false;
    if (place->label != 0) {
        account->has_labels = true;
        wait_times_flush(account, index, now, true);
        return false;
    }
    uint32_t own = waiting_times(index, now, times);
    if (own == SHARED_SITES)
        return false;
    struct wait_site *site = &account->sites[own];
    if (site->id != times[own].id)
        begin_site(account, index, site, times[own].id, now);
    if (site->place.node != 0 && site->place.node != place->node)
        show_site(account, index, site, now);
    site->place = *place;
    if (ns == NULL)
        return true;
    *ns = site->waited;
    site->waited = 0;
    account->timed = own + 1;
    return true;
}
