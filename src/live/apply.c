/* SPDX-License-Identifier: MIT */
/*
 * apply.c -- see watch_parts.h. A sample is judged once, when it first has a
 * value; later values are only added. Walking a sample's stack is the expensive
 * part. So all values of a look for one sample are added in one step, from any
 * number of records.
 */
#include <string.h>

#include "base/clock.h"
#include "model/events.h"
#include "model/folding.h"
#include "model/gpu_wait.h"
#include "model/naming.h"
#include "model/quality.h"
#include "read/spool_load.h"
#include "store/record.h"
#include "util/array.h"
#include "view/filter.h"
#include "watch_parts.h"

/* NAMES_SHARE: naming generated code anew takes at most one part in NAMES_SHARE
 * of the time. NAMES_LEAST_NS: least pause between two namings, in ns. */
enum { NAMES_SHARE = 20 };
#define NAMES_LEAST_NS 2000000000u

/* New entries are zero. */
int
apply_room(struct watch *watch)
{
    const struct profile *profile = watch->profile;
    while (watch->sample_count < profile->sample_count) {
        if (!ARRAY_GROW(watch->samples, watch->sample_count))
            return -1;
        watch->samples[watch->sample_count++] = (struct watch_sample){0};
    }
    while (watch->thread_count < profile->thread_count) {
        if (!ARRAY_GROW(watch->threads, watch->thread_count))
            return -1;
        watch->threads[watch->thread_count++] = (struct watch_thread){0};
    }
    return 0;
}

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
apply_contribution(const struct watch *watch,
                   const struct record_sample *record, uint32_t thread)
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

/* Add VALUES to what is pending for SAMPLE, which stands in the list once. Its
 * points, which may be taken back, have equal parts. Returns 0, or -1 if memory
 * is short. */
static int
note_pending(struct watch *watch, uint32_t sample,
             const int64_t values[VALUE_COUNT])
{
    struct watch_sample *beside = &watch->samples[sample];
    if (!ARRAY_GROW(watch->changed, watch->changed_count))
        return -1;
    if (!beside->is_changed)
        watch->changed[watch->changed_count++] = sample;
    beside->is_changed = true;
    int64_t count = values[VALUE_SAMPLES];
    const struct profile_sample *of = &watch->profile->samples[sample];
    bool has_points = count != 0 && of->node != PROFILE_NOT_SAMPLED;
    double points = (double)count;
    if (of->state != STATE_RUNNING)
        points *= quality_look_share(watch->profile);
    for (unsigned i = 0; i < VALUE_COUNT; i++) {
        span_add(&beside->pending[i], values[i]);
        if (has_points)
            beside->squares[i] +=
                (double)values[i] * (double)values[i] / points;
    }
    return 0;
}

/* EVERYTHING counts regardless of the filter. The filter's time is applied
 * here, its other conditions later, by apply_pending. */
int
apply_count(struct watch *watch, uint32_t sample,
            const struct contribution *given, const struct contribution *before)
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
    return note_pending(watch, sample, kept);
}

/* Only the samples in the list have sums in the interval. */
void
apply_begin(struct watch *watch)
{
    for (uint32_t i = 0; i < watch->changed_count; i++) {
        struct watch_sample *beside = &watch->samples[watch->changed[i]];
        span_begin(&beside->sums);
        beside->is_changed = false;
    }
    watch->changed_count = 0;
    for (uint32_t i = 0; i < watch->thread_count; i++) {
        for (unsigned j = 0; j < STATE_COUNT; j++)
            span_begin(&watch->threads[i].states[j]);
        watch->threads[i].has_run = false;
    }
    span_begin(&watch->totals);
    span_begin(&watch->everything);
    functions_begin_interval(&watch->functions);
}

/* Decide about SAMPLE, and name the functions on its stack. Labels are compared
 * first: this is cheap, and leaves fewer stacks to be named. */
static int
judge_sample(struct watch *watch, uint32_t sample)
{
    struct watch_sample *beside = &watch->samples[sample];
    struct profile_sample at = watch->profile->samples[sample];
    folding_extend(watch->profile);
    /* Native functions show it, which may be left out. */
    at.is_gpu_wait |=
        watch->profile->shows_script && gpu_wait_is_at(watch->profile, at.node);
    at.node = folding_shown(watch->profile, at.node);
    if (beside->verdict != VERDICT_OPEN)
        return 0;
    beside->verdict = VERDICT_DROP;
    if (!filter_has_labels(watch->filter, watch->profile, &at))
        return 0;
    if (functions_name(&watch->functions, at.node) != 0)
        return -1;
    if (functions_keep(&watch->functions, at.node))
        beside->verdict = VERDICT_KEEP;
    return 0;
}

/* Count SUMS for SAMPLE, if it is kept. */
static int
count_sample(struct watch *watch, uint32_t sample, const struct span_sums *sums)
{
    const struct profile_sample *at = &watch->profile->samples[sample];
    if (judge_sample(watch, sample) != 0)
        return -1;
    if (watch->samples[sample].verdict == VERDICT_DROP)
        return 0;
    functions_add(&watch->functions, folding_shown(watch->profile, at->node),
                  sums);
    span_add_sums(&watch->threads[at->thread].states[at->state], sums);
    span_add_sums(&watch->totals, sums);
    return 0;
}

/* New values belong to both spans. */
int
apply_pending(struct watch *watch)
{
    int status = 0;
    for (uint32_t i = 0; i < watch->changed_count && status == 0; i++) {
        struct watch_sample *beside = &watch->samples[watch->changed[i]];
        struct span_sums sums;
        for (unsigned j = 0; j < SPAN_COUNT; j++) {
            memcpy(sums.values[j], beside->pending, sizeof(beside->pending));
            memcpy(sums.squares[j], beside->squares, sizeof(beside->squares));
        }
        memset(beside->pending, 0, sizeof(beside->pending));
        memset(beside->squares, 0, sizeof(beside->squares));
        span_add_sums(&beside->sums, &sums);
        status = count_sample(watch, watch->changed[i], &sums);
    }
    return status;
}

int
apply_anew(struct watch *watch)
{
    int status = 0;
    functions_forget(&watch->functions);
    watch->totals = (struct span_sums){0};
    for (uint32_t i = 0; i < watch->thread_count; i++)
        memset(watch->threads[i].states, 0, sizeof(watch->threads[i].states));
    for (uint32_t i = 0; i < watch->sample_count && status == 0; i++) {
        watch->samples[i].verdict = VERDICT_OPEN;
        status = count_sample(watch, i, &watch->samples[i].sums);
    }
    return status;
}

/* Reading a large map takes long. The longer it took, the longer is the pause
 * before the next time. */
int
apply_new_names(struct watch *watch)
{
    uint64_t start = clock_now();
    if (!watch->functions.has_nameless || start < watch->names_due ||
        !naming_has_news(watch->profile))
        return 0;
    naming_forget(watch->profile);
    int status = apply_anew(watch);
    uint64_t took = clock_now() - start;
    watch->names_due = start + took + took * NAMES_SHARE + NAMES_LEAST_NS;
    return status;
}
