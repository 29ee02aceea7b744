/* SPDX-License-Identifier: MIT */
/*
 * watch.c -- see watch.h. A look has three steps:
 *
 *   read     the records that are new, through build.c, but for samples;
 *   reread   COUNTS and CONTROL, then the samples that may have changed in
 *            place: waits that are open or may be opened again, until the
 *            thread has a later sample, and the sums of unseen threads;
 *   settle   what is new is judged by the filter, and counted for functions,
 *            threads and all.
 *
 * Of a record that can change, what was counted for it is kept, so that the
 * difference is what is new, even if it is less than nothing.
 *
 * CPU time is what samples were recorded with: the clocks to which a report
 * scales it (weigh.h) are read when threads end. What then shows is added as
 * PROFILE_NOT_SAMPLED, so that programs of short threads do not seem idle: by
 * how much the clocks of threads that ended are ahead of their samples, all
 * together; the balance is below 0 while the samples are ahead.
 */
#include "watch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/reader.h"
#include "store/record.h"

#include "array.h"
#include "build.h"
#include "events.h"
#include "filter.h"
#include "parts.h"
#include "settle.h"

/* COUNTS of today and of later versions fit. */
enum { WORDS_MOST = 512 };

/* What a record stands for: all of it, and within the filter's time. */
struct given {
    int64_t cpu; /* of a sample that found its thread running */
    int64_t all[VALUE_COUNT], kept[VALUE_COUNT];
};

/* A sample that may change in place. */
struct watch_record {
    uint64_t place;
    uint32_t sample;
    struct given given; /* what was counted for it */
    bool is_for_ever;
};

static bool
is_short_of_memory(const struct watch *watch)
{
    return watch->build == NULL || watch->profile == NULL ||
           watch->functions.names == NULL;
}

struct watch *
watch_new(struct reader *reader, const struct filter_options *filter,
          const struct symbolizer_options *options)
{
    struct watch *watch = calloc(1, sizeof *watch);

    if (watch == NULL)
        return NULL;
    watch->reader = reader;
    watch->filter = filter;
    watch->first = UINT64_MAX;
    watch->profile = profile_new(options);
    watch->build = calloc(1, sizeof *watch->build);
    if (watch->profile != NULL)
        (void)functions_begin(&watch->functions, watch->profile, filter);
    if (is_short_of_memory(watch))
        goto err;
    watch->build->profile = watch->profile;
    if (build_begin(watch->build, reader_header(reader)) < 0 ||
        (filter_is_set(filter) && filter_describe(filter, watch->profile) < 0))
        goto err;
    return watch;

err:
    watch_free(watch);
    errno = ENOMEM;
    return NULL;
}

/* Make SAMPLES and THREADS reach as far as the profile's. */
static int
make_room(struct watch *watch)
{
    const struct profile *profile = watch->profile;

    while (watch->sample_count < profile->sample_count) {
        struct watch_sample *samples =
            array_room(watch->samples, watch->sample_count, sizeof *samples);
        if (samples == NULL)
            return -1;
        watch->samples = samples;
        samples[watch->sample_count++] = (struct watch_sample){0};
    }
    while (watch->thread_count < profile->thread_count) {
        struct watch_thread *threads =
            array_room(watch->threads, watch->thread_count, sizeof *threads);
        if (threads == NULL)
            return -1;
        watch->threads = threads;
        threads[watch->thread_count++] = (struct watch_thread){0};
    }
    return 0;
}

/* Count the difference between GIVEN and BEFORE for SAMPLE. */
static int
count(struct watch *watch, uint32_t sample, const struct given *given,
      const struct given *before)
{
    struct watch_thread *thread =
        &watch->threads[watch->profile->samples[sample].thread];
    int64_t kept[VALUE_COUNT];

    span_add(&thread->sampled, given->cpu - before->cpu);
    span_add(&thread->ran, given->cpu - before->cpu);
    for (unsigned i = 0; i < VALUE_COUNT; i++) {
        for (unsigned j = 0; j < SPAN_COUNT; j++)
            span_add(&watch->everything.values[j][i],
                     given->all[i] - before->all[i]);
        kept[i] = given->kept[i] - before->kept[i];
    }
    return settle_note(watch, sample, kept);
}

/* A number of the spool as one that can be added without a thought. */
static int64_t
sane(uint64_t value)
{
    return value <= INT64_MAX / 4 ? (int64_t)value : INT64_MAX / 4;
}

/* By how much the wait RECORD of THREAD reaches beyond what is written (waits.h
 * has the rule). */
static uint64_t
extension(const struct watch *watch, const struct record_sample *record,
          uint32_t thread)
{
    uint64_t reached = record->time,
             limit = watch->profile->threads[thread].end;

    if ((record->flags & SAMPLE_OPEN) == 0 || record->state == STATE_RUNNING)
        return 0;
    profile_sum(&reached, record->duration);
    if (limit > watch->build->last_tick)
        limit = watch->build->last_tick;
    return limit > reached ? limit - reached : 0;
}

/* What RECORD stands for at this moment. */
static struct given
weigh(const struct watch *watch, const struct record_sample *record,
      uint32_t thread)
{
    uint64_t more = extension(watch, record, thread);
    uint64_t points = watch->period > 0 ? more / watch->period : 0;
    struct profile_event event = {.time = record->time,
                                  .duration = record->duration + more,
                                  .cpu = record->cpu,
                                  .wall = record->wall + more};
    struct given given = {
        .cpu = record->state == STATE_RUNNING ? sane(record->cpu) : 0};

    event.count = record->count < UINT32_MAX - points
                      ? (uint32_t)(record->count + points)
                      : UINT32_MAX;
    given.all[VALUE_SAMPLES] = event.count;
    given.all[VALUE_CPU] = sane(event.cpu);
    given.all[VALUE_WALL] = sane(event.wall);
    if (watch->filter->has_time &&
        !events_cut(&event, event.time, watch->filter->from, watch->filter->to))
        return given;
    given.kept[VALUE_SAMPLES] = event.count;
    given.kept[VALUE_CPU] = sane(event.cpu);
    given.kept[VALUE_WALL] = sane(event.wall);
    return given;
}

/* Whether RECORD may change in place. A wait that is over may be opened again.
 */
static bool
may_change(const struct record_sample *record)
{
    return build_is_unsampled(record) || (record->flags & SAMPLE_OPEN) != 0 ||
           record->state == STATE_WAITING;
}

/* Remember that RECORD, which was counted as GIVEN, may change. */
static int
keep_record(struct watch *watch, const struct record_sample *record,
            uint32_t sample, const struct given *given)
{
    struct watch_record *records =
        array_room(watch->records, watch->record_count, sizeof *records);

    if (records == NULL)
        return -1;
    watch->records = records;
    records[watch->record_count++] =
        (struct watch_record){.place = reader_place(watch->reader),
                              .sample = sample,
                              .given = *given,
                              .is_for_ever = build_is_unsampled(record)};
    return 0;
}

/* RECORD, of SAMPLE, is the latest of its thread. */
static void
note_latest(struct watch *watch, const struct record_sample *record,
            uint32_t sample)
{
    struct watch_thread *thread =
        &watch->threads[watch->profile->samples[sample].thread];

    thread->place = reader_place(watch->reader);
    thread->latest = sample;
    thread->has_latest = true;
    thread->is_open = (record->flags & SAMPLE_OPEN) != 0;
}

/* A new sample. */
static int
take_sample(struct watch *watch, const struct record_sample *record)
{
    static const struct given nothing;
    struct profile_sample key, *sample;
    struct given given;
    uint32_t number;

    if (!build_find_key(watch->build, record, &key)) {
        watch->profile->problems++;
        return 0;
    }
    if (build_is_unsampled(record))
        key.node = PROFILE_NOT_SAMPLED;
    sample = parts_sample(watch->build, &key);
    if (sample == NULL || make_room(watch) < 0)
        return -1;
    if (record->time < watch->first)
        watch->first = record->time;
    number = (uint32_t)(sample - watch->profile->samples);
    given = weigh(watch, record, key.thread);
    note_latest(watch, record, number);
    if (count(watch, number, &given, &nothing) < 0)
        return -1;
    return may_change(record) ? keep_record(watch, record, number, &given) : 0;
}

/* THREAD ended by its own clock: see the top of this file. */
static int
take_clock(struct watch *watch, uint32_t thread)
{
    static const struct given nothing;
    const struct profile_thread *at = &watch->profile->threads[thread];
    const struct profile_sample key = {.thread = thread,
                                       .node = PROFILE_NOT_SAMPLED,
                                       .system_call = SYSCALL_UNKNOWN,
                                       .state = STATE_RUNNING,
                                       .waits_on = ""};
    struct record_sample record = {.time = at->end, .state = STATE_RUNNING};
    struct profile_sample *sample;
    struct given given;

    watch->balance += sane(at->cpu) - watch->threads[thread].sampled;
    if (watch->balance <= 0)
        return 0;
    sample = parts_sample(watch->build, &key);
    if (sample == NULL || make_room(watch) < 0)
        return -1;
    record.cpu = record.wall = (uint64_t)watch->balance;
    watch->balance = 0;
    given = weigh(watch, &record, thread);
    return count(watch, (uint32_t)(sample - watch->profile->samples), &given,
                 &nothing);
}

static int
take_end(struct watch *watch, const struct record_thread_end *record)
{
    uint32_t thread = parts_number(&watch->build->threads, record->id);
    enum outcome outcome = build_take(watch->build, RECORD_THREAD_END, record);

    if (outcome != USED || make_room(watch) < 0)
        return outcome == SENSELESS ? 0 : -1;
    return watch->profile->threads[thread].has_exact_cpu
               ? take_clock(watch, thread)
               : 0;
}

static void
take_control(struct watch *watch, const struct record_control *record)
{
    watch->control = (enum control_state)record->state;
    watch->has_control = true;
}

/* One record. Returns 0, or -1 if memory is short. */
static int
take(struct watch *watch, enum record_kind kind, const void *record)
{
    switch (kind) {
    case RECORD_SAMPLE:
        return take_sample(watch, record);
    case RECORD_THREAD_END:
        return take_end(watch, record);
    case RECORD_COUNTS:
        watch->counts_place = reader_place(watch->reader);
        return 0;
    case RECORD_CONTROL:
        watch->control_place = reader_place(watch->reader);
        return 0;
    case RECORD_SUMMARY:
        watch->has_ended = true;
        watch->reason =
            (enum end_reason)((const struct record_summary *)record)->reason;
        break;
    default:
        break;
    }
    return build_take(watch->build, kind, record) == FAILED ? -1 : 0;
}

/* The records that are always in use. */
static void
reread_state(struct watch *watch)
{
    uint64_t words[WORDS_MOST];
    struct record_control control;

    if (watch->counts_place != 0 &&
        reader_again(watch->reader, watch->counts_place, words, sizeof words) ==
            0 &&
        record_size_of(words[0]) <= sizeof words && record_is_valid(words))
        (void)build_take(watch->build, RECORD_COUNTS, words);
    if (watch->control_place != 0 &&
        reader_again(watch->reader, watch->control_place, &control,
                     sizeof control) == 0)
        take_control(watch, &control);
    watch->profile->cost = watch->build->cost;
    watch->taken[SPAN_INTERVAL] =
        watch->build->cost.taken - watch->taken[SPAN_ALL];
    watch->taken[SPAN_ALL] = watch->build->cost.taken;
    watch->period = watch->profile->processes[0].period;
}

/* Read RECORD anew. The flags are those of a copy that is older than the rest,
 * because they are stored last: a wait that is over has its final values. */
static int
reread_record(struct watch *watch, struct watch_record *record, bool *is_over)
{
    const struct profile_sample *sample =
        &watch->profile->samples[record->sample];
    struct watch_thread *thread = &watch->threads[sample->thread];
    struct record_sample before, now;
    struct given given;
    int status;

    *is_over = true;
    if (reader_again(watch->reader, record->place, &before, sizeof before) <
            0 ||
        reader_again(watch->reader, record->place, &now, sizeof now) < 0)
        return 0;
    now.flags = before.flags;
    given = weigh(watch, &now, sample->thread);
    *is_over = (now.flags & SAMPLE_OPEN) == 0 && !record->is_for_ever &&
               (thread->place != record->place ||
                watch->profile->threads[sample->thread].end != UINT64_MAX);
    if (thread->place == record->place)
        thread->is_open = (now.flags & SAMPLE_OPEN) != 0;
    if (memcmp(&given, &record->given, sizeof given) == 0)
        return 0;
    status = count(watch, record->sample, &given, &record->given);
    record->given = given;
    return status;
}

static int
reread_records(struct watch *watch)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < watch->record_count; i++) {
        struct watch_record record = watch->records[i];
        bool is_over;
        if (reread_record(watch, &record, &is_over) < 0)
            return -1;
        if (!is_over)
            watch->records[kept++] = record;
    }
    watch->record_count = kept;
    return 0;
}

/* The times between ticks, and of the process so far, which its perf map is
 * compared with (generated.c). */
static void
tell_time(struct watch *watch)
{
    struct profile *profile = watch->profile;
    uint64_t now = watch->build->last_tick, first = watch->first;

    watch->length[SPAN_ALL] = now > first ? now - first : 0;
    if (watch->last > first)
        first = watch->last;
    watch->length[SPAN_INTERVAL] = now > first ? now - first : 0;
    watch->last = now;
    profile->processes[0].duration = watch->build->end;
    profile->start = profile->processes[0].start;
    profile->duration = watch->build->end;
}

int
watch_look(struct watch *watch)
{
    const void *record;
    enum record_kind kind;
    int status = 0;

    settle_begin(watch);
    while (status == 0 && (record = reader_next(watch->reader, &kind)) != NULL)
        status = take(watch, kind, record);
    if (make_room(watch) < 0)
        status = -1;
    reread_state(watch);
    if (status == 0)
        status = reread_records(watch);
    tell_time(watch);
    /* Modules that come later are looked for in the mappings of then. */
    parts_forget_mapped(watch->build);
    if (status == 0)
        status = settle_pending(watch);
    if (status == 0)
        status = settle_new_names(watch);
    if (status < 0)
        errno = ENOMEM;
    return status;
}

const char *
watch_state(const struct watch *watch, uint32_t thread, const char **waits_on)
{
    const struct watch_thread *at = &watch->threads[thread];
    const struct profile_sample *sample = &watch->profile->samples[at->latest];

    *waits_on = "";
    if (watch->profile->threads[thread].end != UINT64_MAX)
        return "ended";
    if (at->has_latest && at->is_open) {
        *waits_on = sample->waits_on;
        return profile_state(watch->profile, sample);
    }
    if (at->ran > 0)
        return "running";
    return at->has_latest && sample->state == STATE_RUNQUEUE ? "runnable" : "-";
}

void
watch_free(struct watch *watch)
{
    if (watch == NULL)
        return;
    if (watch->build != NULL)
        parts_release(watch->build);
    free(watch->build);
    functions_release(&watch->functions);
    profile_free(watch->profile);
    free(watch->samples);
    free(watch->threads);
    free(watch->changed);
    free(watch->records);
    free(watch);
}
