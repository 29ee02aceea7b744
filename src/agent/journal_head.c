/* SPDX-License-Identifier: MIT */
/* journal_head.c -- see journal_head.h. */
#include <stddef.h>

#include "store/writer.h"
#include "journal.h"
#include "journal_head.h"

static struct record_counts *counts;
static struct record_control *control;

void
journal_head_write(struct journal_head *head)
{
    static const uint64_t zeros[LOSS_COUNT + CUT_COUNT];
    struct record_counts none = {.loss_count = LOSS_COUNT,
                                 .cut_count = CUT_COUNT};
    struct record_control said = {.state = CONTROL_WAITING};
    const struct writer_tail tail = {zeros, sizeof(zeros)};
    head->counts = journal_append(RECORD_COUNTS, &none, sizeof(none), &tail, 1);
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

void
journal_head_counts(const struct record_counts *now, const uint64_t *lost,
                    const uint64_t *cut)
{
    if (counts == NULL)
        return;
    /* All counters between the head and the two lengths are one word each. */
    struct record_counts relative = *now;
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
        writer_store(&tail[i], lost[i]);
    for (unsigned i = 0; i < CUT_COUNT; i++)
        writer_store(&tail[LOSS_COUNT + i], cut[i]);
}
