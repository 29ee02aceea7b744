/* SPDX-License-Identifier: MIT */
/* unsampled.c -- see unsampled.h. A record tells of many looks. */
#include <stddef.h>

#include "journal.h"
#include "unsampled.h"

#define RECORD_NS 100000000u

void
unsampled_add(struct account *account, uint32_t index, uint64_t ran,
              uint64_t between, uint64_t now)
{
    if (account->unsampled == 0)
        account->unsampled_since = now - between;
    account->unsampled += ran;
    account->unsampled_until = now;
    if (now - account->unsampled_since >= RECORD_NS)
        unsampled_flush(account, index);
}

/* CPU ns of thread INDEX from SINCE to UNTIL, at AGE of it. Returns whether
 * they were written. */
static bool
write_record(uint32_t index, uint64_t cpu, uint64_t since, uint64_t until,
             uint64_t age)
{
    uint64_t count = cpu / account_period();
    struct record_sample sample = {.time = since,
                                   .duration = until - since,
                                   .wall = cpu,
                                   .cpu = cpu,
                                   .count = count != 0 ? count : 1,
                                   .system_call = SYSCALL_UNKNOWN,
                                   .state = STATE_RUNNING,
                                   .trigger = TRIGGER_KEPT,
                                   .flags = SAMPLE_NOT_SAMPLED,
                                   .age = age};
    if (journal_sample(&sample, index) == 0)
        return false;
    account_sums()->counts.kept += sample.count;
    return true;
}

void
unsampled_flush(struct account *account, uint32_t index)
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
    account_sums()->unsampled += is_written;
}

void
unsampled_early(uint32_t index, uint64_t cpu, uint64_t since, uint64_t until)
{
    if (cpu != 0)
        (void)write_record(index, cpu, since, until, cpu / 2);
}
