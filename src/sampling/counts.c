/* SPDX-License-Identifier: MIT */
/* counts.c -- see counts.h. */
#include <stddef.h>

#include "base/clock.h"
#include "base/state.h"
#include "journal/journal.h"
#include "unwind/rules.h"
#include "thread_time.h"
#include "counts.h"

/* The sums in earlier files. */
static OF_PROFILE struct journal_sums earlier;

/* The tick at which the clocks are read again. */
static OF_PROFILE uint64_t clocks_due;

/* Subtract from *SUMS those of earlier files, and the questions in flight,
 * which count in the file with the answers. */
static void
subtract_earlier(struct journal_sums *sums)
{
    const uint64_t *less = &earlier.counts.ticks;
    uint64_t *from = &sums->counts.ticks;
    size_t words = (offsetof(struct record_counts, loss_count) -
                    offsetof(struct record_counts, ticks)) /
                   sizeof(uint64_t);
    sums->counts.asked -= sums->in_flight;
    sums->expired -= earlier.expired;
    sums->missed -= earlier.missed;
    for (size_t i = 0; i < words; i++)
        from[i] -= less[i];
    for (unsigned i = 0; i < LOSS_COUNT; i++)
        sums->lost[i] -= earlier.lost[i];
    for (unsigned i = 0; i < CUT_COUNT; i++)
        sums->cut[i] -= earlier.cut[i];
    for (unsigned i = 0; i < LIMIT_COUNT; i++) {
        sums->due_cpu[i] -= earlier.due_cpu[i];
        sums->due_taken[i] -= earlier.due_taken[i];
    }
}

void
counts_publish(uint64_t now, bool is_last)
{
    struct journal_sums *sums = thread_time_sums();
    sums->counts.time = now;
    sums->counts.rules = rules_count();
    sums->expired = clock_expired;
    /* This takes two system calls, so it is not done at every tick. */
    if (sums->counts.ticks >= clocks_due || is_last) {
        clocks_due = sums->counts.ticks + 32;
        sums->counts.sampler_cpu = clock_own();
        sums->counts.process_cpu = clock_process();
    }
    struct journal_sums published = *sums;
    subtract_earlier(&published);
    journal_counts(&published);
}

void
counts_rotate(uint64_t now)
{
    counts_publish(now, true);
    earlier = *thread_time_sums();
    earlier.counts.asked -= earlier.in_flight;
}

void
counts_end(enum end_reason reason, bool keeps_all)
{
    counts_publish(clock_now(), true);
    const struct journal_sums *sums = thread_time_sums();
    if (sums->counts.taken + sums->counts.peeked + sums->measured == 0 &&
        !keeps_all)
        journal_forget();
    else
        journal_end(clock_now(), reason);
}
