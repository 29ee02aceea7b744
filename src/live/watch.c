/* SPDX-License-Identifier: MIT */
/*
 * watch.c -- see watch.h. A look has three steps:
 *
 *    read     the new records, through spool.c, except samples;
 *    reread   COUNTS and CONTROL, then the samples that may have changed in
 *             place: the sums of unseen threads, and waits. A wait that is open
 *             or may be opened again is reread until its thread has a later
 *             sample;
 *    apply    the filter judges what is new, and it is counted for functions,
 *             for threads and in total.
 *
 * The clocks of the threads determine the CPU time of their samples
 * (cpu_share.c). So a view of a living process agrees with its later report.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/sample_state.h"
#include "read/spool.h"
#include "read/spool_load.h"
#include "store/reader.h"
#include "store/record.h"
#include "util/array.h"
#include "util/intern.h"
#include "view/filter.h"
#include "watch_parts.h"
#include "watch.h"

/* Limit of the words of a COUNTS record that is reread. The record of today
 * fits, and those of later versions will. */
enum { WORDS_MOST = 512 };

/* A sample that may change in place. */
struct watch_record {
    uint64_t place;
    uint32_t sample;
    struct contribution given; /* what was counted for it */
    bool is_for_ever;
};

/* On failure watch_free releases the parts that exist, so one exit is enough.
 */
struct watch *
watch_new(struct reader *reader, const struct filter_options *filter,
          const struct symbolizer_options *options)
{
    struct watch *watch = calloc(1, sizeof(*watch));
    if (watch == NULL)
        return NULL;
    watch->reader = reader;
    watch->filter = filter;
    watch->first = UINT64_MAX;
    watch->profile = profile_new(options);
    watch->load = calloc(1, sizeof(*watch->load));
    if (watch->profile != NULL)
        /* Names are few, and they are kept as long as the view. */
        watch->functions = (struct functions){.profile = watch->profile,
                                              .filter = filter,
                                              .names = intern_new()};
    if (watch->load == NULL || watch->profile == NULL ||
        watch->functions.names == NULL)
        goto err;
    watch->load->profile = watch->profile;
    watch->profile->shows_native = filter != NULL && filter->is_native;
    watch->profile->shows_script = filter != NULL && filter->is_script;
    if (spool_begin(watch->load, reader_header(reader)) != 0 ||
        (filter_is_set(filter) && filter_describe(filter, watch->profile) != 0))
        goto err;
    return watch;

err:
    watch_free(watch);
    errno = ENOMEM;
    return NULL;
}

void
watch_tell_pid(struct watch *watch, uint32_t pid)
{
    watch->load->pid = pid;
    watch->load->is_here = true;
}

/* Remember that RECORD, which was counted as GIVEN, may change. Returns 0, or
 * -1 if memory is short. */
static int
keep_record(struct watch *watch, const struct record_sample *record,
            uint32_t sample, const struct contribution *given)
{
    if (!ARRAY_GROW(watch->records, watch->record_count))
        return -1;
    watch->records[watch->record_count++] =
        (struct watch_record){.place = reader_place(watch->reader),
                              .sample = sample,
                              .given = *given,
                              .is_for_ever = spool_is_unsampled(record)};
    return 0;
}

/* Note that RECORD, of SAMPLE, is the latest of its thread. */
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

/* Take a new sample. */
static int
take_sample(struct watch *watch, const struct record_sample *record)
{
    struct profile_sample key;
    struct contribution given = {0};
    if (!spool_find_key(watch->load, record, &key)) {
        watch->profile->problems++;
        return 0;
    }
    /* It has come back, after a pause of sampling for example. */
    spool_load_see_alive(watch->load, key.thread, record->time);
    if (spool_is_unsampled(record))
        key.node = PROFILE_NOT_SAMPLED;
    struct profile_sample *sample = spool_load_sample(watch->load, &key);
    if (sample == NULL || apply_room(watch) != 0)
        return -1;
    if (record->time < watch->first)
        watch->first = record->time;
    uint32_t number = (uint32_t)(sample - watch->profile->samples);
    note_latest(watch, record, number);
    if (record->state == STATE_RUNNING && !spool_is_unsampled(record))
        return cpu_share_put(watch, record, number);
    /* CPU time without a sample is spread at reread_records: by then the other
     * samples of the look are known. */
    if (spool_is_unsampled(record))
        return keep_record(watch, record, number, &given);
    given = apply_contribution(watch, record, key.thread);
    if (apply_count(watch, number, &given, NULL) != 0)
        return -1;
    /* A wait that is over may be opened again. */
    return (record->flags & SAMPLE_OPEN) != 0 || record->state == STATE_WAITING
               ? keep_record(watch, record, number, &given)
               : 0;
}

/* Take the end of a thread. cpu_share_all settles its clock after its last
 * samples. */
static int
take_end(struct watch *watch, const struct record_thread_end *record)
{
    uint32_t thread = spool_load_number(&watch->load->threads, record->id);
    enum outcome outcome = spool_take(watch->load, RECORD_THREAD_END, record);
    if (outcome != USED || apply_room(watch) != 0)
        return outcome == SENSELESS ? 0 : -1;
    watch->threads[thread].is_gone = (record->flags & THREAD_END_ALIVE) == 0;
    return cpu_share_put_end(watch, thread);
}

/* Take a thread or its new name. A sample is judged once, and a thread may take
 * its name after it began. So a filter may have judged by the old name. */
static int
take_thread(struct watch *watch, const struct record_thread *record)
{
    watch->has_renamed |=
        watch->filter->count > 0 &&
        spool_load_number(&watch->load->threads, record->id) != INTERN_NONE;
    return spool_take(watch->load, RECORD_THREAD, record) == FAILED ? -1 : 0;
}

/* Take one record. Returns 0, or -1 if memory is short. */
static int
take_record(struct watch *watch, enum record_kind kind, const void *record)
{
    switch (kind) {
    case RECORD_SAMPLE:
        return take_sample(watch, record);
    case RECORD_THREAD:
        return take_thread(watch, record);
    case RECORD_THREAD_END:
        return take_end(watch, record);
    case RECORD_COUNTS:
        watch->counts_place = reader_place(watch->reader);
        return 0;
    case RECORD_CONTROL:
        watch->control_place = reader_place(watch->reader);
        return 0;
    case RECORD_MARK:
        /* The live view shows no marks, and their number has no limit. */
        return 0;
    case RECORD_SUMMARY:
        watch->has_ended = true;
        watch->reason =
            (enum end_reason)((const struct record_summary *)record)->reason;
        break;
    default:
        break;
    }
    return spool_take(watch->load, kind, record) == FAILED ? -1 : 0;
}

/* Read COUNTS and CONTROL again: the process changes them in place all the
 * time. */
static void
reread_state(struct watch *watch)
{
    uint64_t words[WORDS_MOST];
    if (watch->counts_place != 0 &&
        reader_again(watch->reader, watch->counts_place, words,
                     sizeof(words)) == 0 &&
        record_size_of(words[0]) <= sizeof(words) && record_is_valid(words))
        (void)spool_take(watch->load, RECORD_COUNTS, words);
    struct record_control control;
    if (watch->control_place != 0 &&
        reader_again(watch->reader, watch->control_place, &control,
                     sizeof(control)) == 0) {
        /* Later versions may have more states. */
        watch->control = (enum control_state)control.state;
        watch->has_control = true;
    }
    watch->profile->cost = watch->load->cost;
    watch->period = watch->profile->processes[0].period;
}

/* Read RECORD again. The process stores the flags last. So the flags are taken
 * from an earlier copy than the rest: if they say that the wait is over, its
 * values are final. */
static int
reread_record(struct watch *watch, struct watch_record *record, bool *is_over)
{
    const struct profile_sample *sample =
        &watch->profile->samples[record->sample];
    struct watch_thread *thread = &watch->threads[sample->thread];
    struct contribution given;
    *is_over = true;
    struct record_sample before, now;
    if (reader_again(watch->reader, record->place, &before, sizeof(before)) !=
            0 ||
        reader_again(watch->reader, record->place, &now, sizeof(now)) != 0)
        return 0;
    now.flags = before.flags;
    given = apply_contribution(watch, &now, sample->thread);
    *is_over = (now.flags & SAMPLE_OPEN) == 0 && !record->is_for_ever &&
               (thread->place != record->place ||
                watch->profile->threads[sample->thread].end != UINT64_MAX);
    if (thread->place == record->place)
        thread->is_open = (now.flags & SAMPLE_OPEN) != 0;
    if (memcmp(&given, &record->given, sizeof(given)) == 0)
        return 0;
    int status =
        record->is_for_ever
            ? cpu_share_spread(watch, sample->thread, &given, &record->given)
            : apply_count(watch, record->sample, &given, &record->given);
    record->given = given;
    return status;
}

/* Read all records that may change; forget those that are over. */
static int
reread_records(struct watch *watch)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < watch->record_count; i++) {
        struct watch_record record = watch->records[i];
        bool is_over;
        if (reread_record(watch, &record, &is_over) != 0)
            return -1;
        if (!is_over)
            watch->records[kept++] = record;
    }
    watch->record_count = kept;
    return 0;
}

/* Compute the times between ticks, and the duration of the process so far.
 * naming.c compares the duration with the perf map. */
static void
set_times(struct watch *watch)
{
    struct profile *profile = watch->profile;
    uint64_t now = watch->load->last_tick, first = watch->first;
    watch->length[SPAN_ALL] = now > first ? now - first : 0;
    if (watch->last > first)
        first = watch->last;
    watch->length[SPAN_INTERVAL] = now > first ? now - first : 0;
    watch->last = now;
    profile->processes[0].duration = watch->load->end;
    profile->start = profile->processes[0].start;
    profile->duration = watch->load->end;
}

/* The order matters. A thread's end bounds its wait and is among the records.
 * The last tick bounds all other waits and is in COUNTS. */
int
watch_look(struct watch *watch)
{
    int status = 0;
    apply_begin(watch);
    const void *record;
    enum record_kind kind;
    while (status == 0 && (record = reader_next(watch->reader, &kind)) != NULL)
        status = take_record(watch, kind, record);
    if (apply_room(watch) != 0 || (status == 0 && cpu_share_all(watch) != 0))
        status = -1;
    reread_state(watch);
    if (status == 0)
        status = reread_records(watch);
    set_times(watch);
    /* Modules that come later are looked up in the mappings of that time. */
    spool_load_forget_mapped(watch->load);
    if (status == 0)
        status = apply_pending(watch);
    if (status == 0 && watch->has_renamed)
        status = apply_anew(watch);
    watch->has_renamed = false;
    if (status == 0)
        status = apply_new_names(watch);
    if (status != 0)
        errno = ENOMEM;
    return status;
}

const char *
watch_state(const struct watch *watch, uint32_t thread, const char **waits_on)
{
    const struct watch_thread *at = &watch->threads[thread];
    const struct profile_sample *sample =
        at->has_latest ? &watch->profile->samples[at->latest] : NULL;
    *waits_on = "";
    bool has_end = watch->profile->threads[thread].end != UINT64_MAX;
    if (has_end && (at->is_gone || watch->has_ended))
        return "ended";
    if (sample != NULL && at->is_open) {
        *waits_on = sample->waits_on;
        return sample_state_name(watch->profile, sample);
    }
    if (at->has_run && at->last_run == 0)
        return "running";
    if (at->has_run)
        return sample_state_name(watch->profile,
                                 &watch->profile->samples[at->last_run - 1]);
    return sample != NULL && sample->state == STATE_RUNQUEUE ? "runnable" : "-";
}

void
watch_free(struct watch *watch)
{
    if (watch == NULL)
        return;
    if (watch->load != NULL)
        spool_load_release(watch->load);
    free(watch->load);
    functions_release(&watch->functions);
    profile_free(watch->profile);
    free(watch->samples);
    free(watch->threads);
    free(watch->changed);
    free(watch->records);
    free(watch->fresh);
    free(watch->ended);
    free(watch);
}
