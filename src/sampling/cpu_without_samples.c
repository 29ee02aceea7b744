/* SPDX-License-Identifier: MIT */
/* cpu_without_samples.c -- see cpu_without_samples.h. One record covers many
 * looks. */
#include <stddef.h>

#include "journal/journal.h"
#include "cpu_without_samples.h"

/* ns of wall time after which a record is written. */
#define RECORD_NS 100000000u

void
cpu_without_samples_add(struct thread_time *account, uint32_t index,
                        uint64_t ran, uint64_t between, uint64_t now)
{
    if (account->unsampled == 0)
        account->unsampled_since = now - between;
    account->unsampled += ran;
    account->unsampled_until = now;
    if (now - account->unsampled_since >= RECORD_NS)
        cpu_without_samples_flush(account, index);
}

/* Write that thread INDEX used CPU ns from SINCE to UNTIL, at the age AGE.
 * Returns whether that was written. */
static bool
write_record(uint32_t index, uint64_t cpu, uint64_t since, uint64_t until,
             uint64_t age)
{
    uint64_t count = cpu / thread_time_period();
    struct record_sample sample =
        journal_make_sample(STATE_RUNNING, (struct journal_place){0}, since,
                            until);
    sample.wall = sample.cpu = cpu;
    sample.count = count != 0 ? count : 1;
    sample.flags = SAMPLE_NOT_SAMPLED;
    sample.age = age;
    if (journal_sample(&sample, index) == 0)
        return false;
    thread_time_sums()->counts.kept += sample.count;
    return true;
}

void
cpu_without_samples_flush(struct thread_time *account, uint32_t index)
{
    if (account->unsampled == 0)
        return;
    uint64_t age =
        account->seen > account->base ? account->seen - account->base : 0;
    bool is_written =
        write_record(index, account->unsampled, account->unsampled_since,
                     account->unsampled_until, age);
    account->unsampled = 0;
    account->last = NULL;
    thread_time_sums()->unsampled += is_written;
}

void
cpu_without_samples_early(uint32_t index, uint64_t cpu, uint64_t since,
                          uint64_t until)
{
    if (cpu != 0)
        (void)write_record(index, cpu, since, until, cpu / 2);
}
