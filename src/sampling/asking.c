/* SPDX-License-Identifier: MIT */
/*
 * asking.c -- see asking.h. A thread answers at the place where it next has a
 * CPU. The hard thing is that a thread in line has often just been woken. It
 * would answer at its wait, whatever it does after that.
 */
#include <errno.h>

#include "base/clock.h"
#include "base/state.h"
#include "capture/ask.h"
#include "capture/waiting.h"
#include "process/threads.h"
#include "sampling/trigger/trigger.h"
#include "epoch.h"
#include "harvest.h"
#include "asking.h"

/* After a wait of LONG_WAIT_NS ns, a thread is not asked in its first AWAKE_NS
 * ns of CPU time. It may wait again when the signal comes, and the signal would
 * end that wait. */
#define LONG_WAIT_NS 50000000u
#define AWAKE_NS 1000000u

/* If a thread ran for a part of the time, the same part of a look should have
 * found it running, in units of 1 / UNFOUND_ONE. UNFOUND_MOST: 64 looks. */
#define UNFOUND_ONE 1024u
#define UNFOUND_MOST (64 * UNFOUND_ONE)

static OF_PROFILE uint64_t chance; /* of is_drawn */

/* Whether a thread is asked at this look. If looks are more frequent than
 * samples, some looks are drawn, each with a larger weight (asking_weigh). */
static bool
is_drawn(void)
{
    if (epoch_period() <= thread_time_period())
        return true;
    chance = chance * 6364136223846793005u + 1442695040888963407u;
    return (chance >> 33) % epoch_period() < thread_time_period();
}

/* Whether the thread has woken from a long wait just now. A look may find that
 * it runs before its wait is closed. */
static bool
has_just_woken(const struct thread_time *account, uint64_t clock)
{
    if (account->wait != NULL)
        return account->wait_until - account->opened_at >= LONG_WAIT_NS;
    return account->last_wait >= LONG_WAIT_NS &&
           clock - account->woke_clock < AWAKE_NS;
}

bool
asking_may(const struct thread_time *account, uint32_t index, uint64_t clock)
{
    return account->trigger == TRIGGER_ASK && !account->in_flight &&
           !has_just_woken(account, clock) &&
           trigger_may_ask(threads_at(index)->tid, clock - account->base) &&
           is_drawn();
}

static bool
ask(struct thread_time *account, uint32_t index, uint64_t clock, uint64_t now)
{
    struct journal_sums *sums = thread_time_sums();
    account->sequence = harvest_sequence();
    account->asked_clock = clock;
    account->asked_at = now;
    account->asked_for = 0;
    sums->counts.asked++;
    int result = ask_thread(index, threads_at(index)->tid, account->sequence);
    if (result != 0) {
        thread_time_lose(account,
                         result == -EAGAIN ? LOSS_QUEUE_FULL : LOSS_EXITED);
        return false;
    }
    account->in_flight = true;
    sums->in_flight++;
    return true;
}

bool
asking_finds(struct thread_time *account, uint32_t index, uint64_t clock,
             uint64_t ran, uint64_t between)
{
    if (account->trigger != TRIGGER_ASK)
        return false;
    bool runs = clock_thread(threads_at(index)->tid) != clock;
    if (runs)
        account->unfound = 0;
    else if (between != 0)
        account->unfound += UNFOUND_ONE * ran / between;
    return runs;
}

/* A thread that waits now and then is asked when a look finds it running. If
 * many looks should have found that and none did, it runs on the sampler's CPU.
 * Only then any look may ask. */
bool
asking_is_time(const struct thread_time *account, uint32_t index)
{
    struct regs note;
    return account->unfound >= UNFOUND_MOST ||
           (account->noted.pc == 0 && !waiting_read(index, &note));
}

bool
asking_sample(struct thread_time *account, uint32_t index, uint64_t clock,
              uint64_t now)
{
    account->asks_place = false;
    return ask(account, index, clock, now);
}

void
asking_weigh(struct thread_time *account, uint64_t between)
{
    account->asked_for = (uint64_t)((__uint128_t)between * epoch_period() /
                                    thread_time_period());
}

bool
asking_place(struct thread_time *account, uint32_t index, uint64_t clock,
             uint64_t now)
{
    struct regs note;
    if (account->noted.pc == 0 || account->unplaced == 0 ||
        account->unfound >= UNFOUND_MOST || waiting_read(index, &note) ||
        !asking_may(account, index, clock))
        return false;
    account->asks_place = true;
    return ask(account, index, clock, now);
}
