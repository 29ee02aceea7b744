/* SPDX-License-Identifier: MIT */
/* journal_head.c -- see journal_head.h. */
#include <stddef.h>

#include "base/clock.h"
#include "store/writer.h"
#include "journal.h"
#include "journal_head.h"

static struct record_counts *counts;
static struct record_rate *rate;
static struct record_control *control;

void
journal_head_write(struct journal_head *head, uint64_t period)
{
    static const uint64_t zeros[LOSS_COUNT + CUT_COUNT];
    static const struct rate_entry no_entries[LIMIT_COUNT];
    struct record_counts none = {.loss_count = LOSS_COUNT,
                                 .cut_count = CUT_COUNT};
    struct record_rate no_rate = {.period = period,
                                  .tick = clock_tick(),
                                  .count = LIMIT_COUNT};
    struct record_control said = {.state = CONTROL_WAITING};
    const struct writer_tail tail = {zeros, sizeof(zeros)};
    const struct writer_tail rate_tail = {no_entries, sizeof(no_entries)};
    head->counts = journal_append(RECORD_COUNTS, &none, sizeof(none), &tail, 1);
    head->rate =
        journal_append(RECORD_RATE, &no_rate, sizeof(no_rate), &rate_tail, 1);
    if (control != NULL)
        said = *control;
    head->control =
        journal_append(RECORD_CONTROL, &said, sizeof(said), NULL, 0);
}

/* STATE and SIGNO are one word. */
static void
store_control(uint32_t state, uint32_t signo)
{
    _Static_assert(offsetof(struct record_control, state) % 8 == 0 &&
                       offsetof(struct record_control, signal) ==
                           offsetof(struct record_control, state) + 4,
                   "one word");
    writer_store((uint64_t *)(void *)&control->state,
                 (uint64_t)signo << 32 | state);
}

void
journal_head_use(const struct journal_head *head)
{
    counts = head != NULL ? head->counts : NULL;
    rate = head != NULL ? head->rate : NULL;
    control = head != NULL ? head->control : NULL;
}

void
journal_head_state(uint32_t state, uint64_t now)
{
    if (control == NULL)
        return;
    writer_store(&control->time, journal_time(now));
    store_control(state, control->signal);
}

void
journal_head_signal(int signo)
{
    if (control != NULL)
        store_control(control->state, (uint32_t)signo);
}

static void
store_rate(const struct account_sums *sums)
{
    if (rate == NULL)
        return;
    uint64_t *entries = (uint64_t *)(void *)(rate + 1);
    for (unsigned i = 0; i < LIMIT_COUNT; i++) {
        writer_store(&entries[2 * i], sums->due_cpu[i]);
        writer_store(&entries[2 * i + 1], sums->due_taken[i]);
    }
}

void
journal_head_counts(const struct account_sums *sums)
{
    if (counts == NULL)
        return;
    /* All counters between the head and the two lengths are one word each. */
    struct record_counts relative = sums->counts;
    relative.time = journal_time(relative.time);
    const uint64_t *from = &relative.time;
    uint64_t *to = &counts->time;
    size_t words = (offsetof(struct record_counts, loss_count) -
                    offsetof(struct record_counts, time)) /
                   sizeof(uint64_t);
    for (size_t i = 0; i < words; i++)
        writer_store(&to[i], from[i]);
    uint64_t *tail = (uint64_t *)(void *)(counts + 1);
    for (unsigned i = 0; i < LOSS_COUNT; i++)
        writer_store(&tail[i], sums->lost[i]);
    for (unsigned i = 0; i < CUT_COUNT; i++)
        writer_store(&tail[LOSS_COUNT + i], sums->cut[i]);
    store_rate(sums);
}
