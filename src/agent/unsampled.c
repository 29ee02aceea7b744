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

void
unsampled_flush(struct account *account, uint32_t index)
{
    uint64_t since = account->unsampled_since;
    if (account->unsampled == 0)
        return;
    uint64_t count = account->unsampled / account_period();
    struct record_sample sample = {.time = since,
                                   .duration = account->unsampled_until - since,
                                   .wall = account->unsampled,
                                   .cpu = account->unsampled,
                                   .count = count != 0 ? count : 1,
                                   .system_call = SYSCALL_UNKNOWN,
                                   .state = STATE_RUNNING,
                                   .trigger = TRIGGER_KEPT,
                                   .flags = SAMPLE_NOT_SAMPLED,
                                   .age = account->seen > account->base
                                              ? account->seen - account->base
                                              : 0};
    account->unsampled = 0;
    account->last = NULL;
    if (journal_sample(&sample, index) == NULL)
        return;
    account_sums()->unsampled++;
    account_sums()->counts.kept += sample.count;
}
