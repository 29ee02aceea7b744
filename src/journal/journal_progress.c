/* SPDX-License-Identifier: MIT */
/* journal_progress.c -- see journal_progress.h. */
#include <stddef.h>
#include <string.h>

#include "base/clock.h"
#include "store/writer.h"
#include "journal.h"
#include "journal_progress.h"

static struct journal_head *used; /* NULL: there is no file to write to */

void
journal_progress_write(struct journal_head *head, uint64_t period)
{
    struct record_control said = {.state = CONTROL_WAITING};
    if (used != NULL)
        said = used->control;
    memset(head, 0, sizeof(*head));
    head->counts.record.loss_count = LOSS_COUNT;
    head->counts.record.cut_count = CUT_COUNT;
    head->rate.record.period = period;
    head->rate.record.tick = clock_tick();
    head->rate.record.count = LIMIT_COUNT;
    head->control = said;
    head->counts_place = journal_append(RECORD_COUNTS, &head->counts,
                                        sizeof(head->counts), NULL, 0);
    head->rate_place =
        journal_append(RECORD_RATE, &head->rate, sizeof(head->rate), NULL, 0);
    head->control_place =
        journal_append(RECORD_CONTROL, &said, sizeof(said), NULL, 0);
}

void
journal_progress_use(struct journal_head *head)
{
    used = head;
}

/* Flushed at once: a command that reaches the process must see it. */
static void
store_control(void)
{
    const size_t from = offsetof(struct record_control, time);
    journal_change(used->control_place, from, &used->control.time,
                   sizeof(used->control) - from);
    journal_flush();
}

void
journal_progress_state(uint32_t state, uint64_t now)
{
    if (used == NULL)
        return;
    used->control.time = journal_time(now);
    used->control.state = state;
    store_control();
}

void
journal_progress_signal(int signo)
{
    if (used == NULL)
        return;
    used->control.signal = (uint32_t)signo;
    store_control();
}

static void
store_rate(const struct thread_time_sums *sums)
{
    const size_t from = sizeof(struct record_rate);
    struct rate_entry *entries = used->rate.entries;
    for (unsigned i = 0; i < LIMIT_COUNT; i++)
        entries[i] = (struct rate_entry){.cpu = sums->due_cpu[i],
                                         .taken = sums->due_taken[i]};
    journal_change(used->rate_place, from, entries, sizeof(used->rate) - from);
}

void
journal_progress_counts(const struct thread_time_sums *sums)
{
    const size_t from = offsetof(struct record_counts, time);
    if (used == NULL)
        return;
    struct record_counts *record = &used->counts.record;
    *record = sums->counts;
    record->time = journal_time(record->time);
    record->loss_count = LOSS_COUNT;
    record->cut_count = CUT_COUNT;
    memcpy(used->counts.lost, sums->lost, sizeof(used->counts.lost));
    memcpy(used->counts.cut, sums->cut, sizeof(used->counts.cut));
    used->counts.expired = sums->expired;
    journal_change(used->counts_place, from, &record->time,
                   sizeof(used->counts) - from);
    store_rate(sums);
}
