/* SPDX-License-Identifier: MIT */
/* counts.c -- see counts.h. */
#include <sys/resource.h>

#include "base/clock.h"
#include "capture/rules.h"
#include "account.h"
#include "counts.h"
#include "journal.h"

void
counts_publish(uint64_t now, bool is_last)
{
    struct account_sums *sums = account_sums();
    sums->counts.time = now;
    sums->counts.ticks++;
    sums->counts.rules = rules_count();
    /* Two system calls: not at every tick. */
    if (sums->counts.ticks % 32 == 1 || is_last) {
        sums->counts.sampler_cpu = clock_own();
        sums->counts.process_cpu = clock_process();
    }
    journal_counts(&sums->counts, sums->lost, sums->cut);
}

void
counts_end(enum end_reason reason)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    struct record_summary summary = {
        .time = clock_now(),
        .user_cpu = (uint64_t)usage.ru_utime.tv_sec * NS_PER_SECOND +
                    (uint64_t)usage.ru_utime.tv_usec * 1000,
        .system_cpu = (uint64_t)usage.ru_stime.tv_sec * NS_PER_SECOND +
                      (uint64_t)usage.ru_stime.tv_usec * 1000,
        .reason = reason};
    counts_publish(clock_now(), true);
    if (account_sums()->counts.taken + account_sums()->counts.peeked == 0)
        journal_forget();
    else
        journal_end(&summary);
}
