/* SPDX-License-Identifier: MIT */
/* journal_progress.c -- see journal_progress.h. */
#include <stddef.h>
#include <string.h>

#include "base/clock.h"
#include "store/writer.h"
#include "journal_progress.h"

static struct journal_head *used; /* NULL: there is no file to write to */

void
journal_progress_write(struct journal_head *head, uint64_t period)
{
    struct record_control said = {.state = CONTROL_WAITING};
    if (used != NULL)
        said = used->control;
    *head = (struct journal_head){.writer = head->writer,
                                  .start = head->start,
                                  .counts.record = {.loss_count = LOSS_COUNT,
                                                    .cut_count = CUT_COUNT},
                                  .rate.record = {.period = period,
                                                  .tick = clock_tick(),
                                                  .count = LIMIT_COUNT},
                                  .control = said};
    head->counts_place =
        writer_append(head->writer, RECORD_COUNTS, &head->counts,
                      sizeof(head->counts), NULL, 0);
    head->rate_place = writer_append(head->writer, RECORD_RATE, &head->rate,
                                     sizeof(head->rate), NULL, 0);
    head->control_place = writer_append(head->writer, RECORD_CONTROL, &said,
                                        sizeof(said), NULL, 0);
}

void
journal_progress_use(struct journal_head *head)
{
    used = head;
}

/* Replace the bytes of the record at PLACE, from offset FROM up to its SIZE, by
 * those in RECORD. */
static void
change(uint64_t place, const void *record, size_t from, size_t size)
{
    if (place != 0)
        writer_change(used->writer, place, from, (const char *)record + from,
                      size - from);
}

/* Returns the CLOCK_MONOTONIC time TIME as the time of a record. */
static uint64_t
time_in_file(uint64_t time)
{
    return time > used->start ? time - used->start : 0;
}

/* A command that reaches the process must see this at once. */
static void
store_control(void)
{
    change(used->control_place, &used->control,
           offsetof(struct record_control, time), sizeof(used->control));
    (void)writer_flush(used->writer);
}

void
journal_progress_state(uint32_t state, uint64_t now)
{
    if (used == NULL)
        return;
    used->control.time = time_in_file(now);
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

void
journal_progress_counts(const struct journal_sums *sums)
{
    if (used == NULL)
        return;
    struct record_counts *record = &used->counts.record;
    *record = sums->counts;
    record->time = time_in_file(record->time);
    record->loss_count = LOSS_COUNT;
    record->cut_count = CUT_COUNT;
    memcpy(used->counts.lost, sums->lost, sizeof(used->counts.lost));
    memcpy(used->counts.cut, sums->cut, sizeof(used->counts.cut));
    used->counts.expired = sums->expired;
    used->counts.missed = sums->missed;
    change(used->counts_place, &used->counts,
           offsetof(struct record_counts, time), sizeof(used->counts));
    for (unsigned i = 0; i < LIMIT_COUNT; i++)
        used->rate.entries[i] =
            (struct rate_entry){.cpu = sums->due_cpu[i],
                                .taken = sums->due_taken[i]};
    change(used->rate_place, &used->rate, sizeof(struct record_rate),
           sizeof(used->rate));
}
