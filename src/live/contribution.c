/* SPDX-License-Identifier: MIT */
/* contribution.c -- see watch_parts.h. An open wait lasts until the last tick,
 * by the rule of read/spool.c. */
#include "model/events.h"
#include "read/spool_load.h"
#include "store/record.h"
#include "view/filter.h"
#include "watch_parts.h"

/* VALUE of the spool, limited so that sums cannot overflow. */
static int64_t
limited(uint64_t value)
{
    return value <= INT64_MAX / 4 ? (int64_t)value : INT64_MAX / 4;
}

/* How far the wait RECORD of THREAD reaches beyond its recorded end, in ns
 * (read/spool.c has the rule). */
static uint64_t
wait_extension(const struct watch *watch, const struct record_sample *record,
               uint32_t thread)
{
    uint64_t reached = record->time,
             limit = watch->profile->threads[thread].end;
    if ((record->flags & SAMPLE_OPEN) == 0 || record->state == STATE_RUNNING)
        return 0;
    sum_add(&reached, record->duration);
    if (limit > watch->load->last_tick)
        limit = watch->load->last_tick;
    return limit > reached ? limit - reached : 0;
}

struct contribution
contribution_of(const struct watch *watch, const struct record_sample *record,
                uint32_t thread)
{
    uint64_t more = wait_extension(watch, record, thread);
    uint64_t points = watch->period > 0 ? more / watch->period : 0;
    struct profile_event event = {.time = record->time,
                                  .duration = record->duration + more,
                                  .cpu = record->cpu,
                                  .wall = record->wall + more};
    struct contribution given = {
        .cpu = record->state == STATE_RUNNING ? limited(record->cpu) : 0};
    event.count = record->count < UINT32_MAX - points
                      ? (uint32_t)(record->count + points)
                      : UINT32_MAX;
    given.all[VALUE_SAMPLES] = event.count;
    given.all[VALUE_CPU] = limited(event.cpu);
    given.all[VALUE_WALL] = limited(event.wall);
    if (watch->filter->has_time &&
        !events_cut(&event, event.time, watch->filter->from, watch->filter->to))
        return given;
    given.kept[VALUE_SAMPLES] = event.count;
    given.kept[VALUE_CPU] = limited(event.cpu);
    given.kept[VALUE_WALL] = limited(event.wall);
    return given;
}

/* EVERYTHING counts whatever the filter says. The filter's time is applied
 * here, its other conditions later, in apply.c. */
int
contribution_count(struct watch *watch, uint32_t sample,
                   const struct contribution *given,
                   const struct contribution *before)
{
    struct watch_thread *thread =
        &watch->threads[watch->profile->samples[sample].thread];
    static const struct contribution nothing;
    if (before == NULL)
        before = &nothing;
    span_add(&thread->given, given->cpu - before->cpu);
    int64_t kept[VALUE_COUNT];
    for (unsigned i = 0; i < VALUE_COUNT; i++) {
        for (unsigned j = 0; j < SPAN_COUNT; j++)
            span_add(&watch->everything.values[j][i],
                     given->all[i] - before->all[i]);
        kept[i] = given->kept[i] - before->kept[i];
    }
    return apply_note(watch, sample, kept);
}
