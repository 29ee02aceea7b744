/* SPDX-License-Identifier: MIT */
/* result.c -- see result.h. */
#include <stddef.h>

#include "journal/journal.h"
#include "process/look.h"
#include "sampling/rates.h"
#include "sampling/recorder.h"
#include "sampling/renew.h"
#include "sampling/roster.h"
#include "sampling/session.h"
#include "sampling/thread_time.h"
#include "result.h"

void
result_collect(struct sampler_result *result)
{
    const struct journal_sums *sums = thread_time_sums();
    *result =
        (struct sampler_result){.is_blind = look_is_blind(),
                                .is_displaced = session_was_displaced(),
                                .is_traced = session_was_traced(),
                                .taken = sums->counts.taken + sums->measured +
                                         sums->counts.peeked + sums->unsampled,
                                .ran = sums->counts.taken,
                                .asked = sums->counts.asked,
                                .threads = roster_total(),
                                .cpu = sums->counts.sampler_cpu,
                                .error = journal_error(),
                                .recorder_error = recorder_error(),
                                .cut = renew_lost(),
                                .elapsed = session_elapsed()};
    for (unsigned i = 0; i < LOSS_COUNT; i++) {
        result->lost_by[i] = sums->lost[i];
        result->lost += sums->lost[i];
    }
    rates_sum(sums, &result->rate);
}
