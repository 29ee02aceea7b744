/* SPDX-License-Identifier: MIT */
/* result.c -- see result.h. */
#include <stddef.h>

#include "target/look.h"
#include "account.h"
#include "journal.h"
#include "keep.h"
#include "renew.h"
#include "rates.h"
#include "result.h"
#include "roll.h"
#include "session.h"

void
result_collect(struct sampler_result *result)
{
    const struct account_sums *sums = account_sums();
    *result =
        (struct sampler_result){.is_blind = look_is_blind(),
                                .is_displaced = session_was_displaced(),
                                .is_traced = session_was_traced(),
                                .taken = sums->counts.taken + sums->measured +
                                         sums->counts.peeked + sums->unsampled,
                                .ran = sums->counts.taken,
                                .asked = sums->counts.asked,
                                .threads = roll_total(),
                                .cpu = sums->counts.sampler_cpu,
                                .error = journal_error(),
                                .keep_error = keep_error(),
                                .cut = renew_lost(),
                                .elapsed = session_elapsed()};
    for (unsigned i = 0; i < LOSS_COUNT; i++) {
        result->lost_by[i] = sums->lost[i];
        result->lost += sums->lost[i];
    }
    rates_sum(sums, &result->rate);
}
