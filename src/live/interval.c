/* SPDX-License-Identifier: MIT */
/*
 * interval.c -- see interval.h. A take has these steps:
 *
 *    read     the new records, through read/spool.c, except samples
 *    share    the samples of threads that ran share what the threads' clocks
 *             say, as in cpu_share.c. Ended threads get the rest of theirs.
 *    reread   COUNTS, then the records that change in place: waits, and the
 *             CPU time of unseen threads. Only the difference is new.
 *
 * A wait that goes on reaches to the last tick. It may turn out to have ended a
 * little earlier. So an open wait is taken only until HOLD_NS before the tick.
 * If too much was taken nevertheless, it is a debt, which later values pay
 * first. So no value of a profile is negative, and the sums are right.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "model/naming.h"
#include "read/short_threads.h"
#include "read/spool.h"
#include "read/spool_load.h"
#include "store/reader.h"
#include "store/record.h"
#include "util/array.h"
#include "util/intern.h"
#include "util/share.h"
#include "interval_parts.h"
#include "interval.h"

/* HOLD_NS: the last part of an open wait, in ns, which is left for later. */
#define HOLD_NS UINT64_C(100000000)

/* FRESH_MOST: samples that wait for their share; then all get it.
 * WORDS_MOST: words of a COUNTS record that is reread. */
enum { FRESH_MOST = 65536, WORDS_MOST = 512 };

/* LIMIT: values beyond it are damage, so that sums cannot overflow. */
#define LIMIT (INT64_MAX / 4)

/* VALUE of a record, limited. */
static int64_t
limited(uint64_t value)
{
    return value < LIMIT ? (int64_t)value : LIMIT;
}

int
interval_make_room(struct interval *interval)
{
    while (interval->thread_count < interval->profile->thread_count) {
        if (!ARRAY_GROW(interval->threads, interval->thread_count))
            return -1;
        interval->threads[interval->thread_count++] =
            (struct interval_thread){0};
    }
    return 0;
}

int
interval_count(struct interval *interval, const struct profile_sample *key,
               const struct interval_values *values)
{
    struct profile_sample *sample = spool_load_sample(&interval->load, key);
    if (sample == NULL)
        return -1;
    for (unsigned i = 0; i < VALUE_COUNT; i++) {
        int64_t *debt = &interval->debts.of[i], value = values->of[i] - *debt;
        *debt = value < 0 ? -value : 0;
        if (value <= 0)
            continue;
        sum_add(&sample->values[i], (uint64_t)value);
        interval->taken.of[i] += value;
    }
    return 0;
}

/* Count CPU ns of THREAD without a sample of its own, at NODE. */
static int
count_time(struct interval *interval, uint32_t thread, uint32_t node,
           int64_t cpu)
{
    const struct profile_sample key = {.thread = thread,
                                       .node = node,
                                       .system_call = SYSCALL_UNKNOWN,
                                       .state = STATE_RUNNING,
                                       .waits_on = ""};
    const struct interval_values values = {{0, cpu, cpu}};
    interval->threads[thread].given += cpu;
    return interval_count(interval, &key, &values);
}

/* Set what the fresh samples of THREAD share. If its clock was never read, they
 * keep what they recorded. */
static void
set_share(struct interval_thread *thread)
{
    uint64_t given = thread->given > 0 ? (uint64_t)thread->given : 0;
    thread->is_sharing = true;
    thread->share.passed = 0;
    thread->share.due = thread->clock > given ? thread->clock - given : 0;
    if (thread->clock == 0)
        thread->share.due = thread->share.weight;
}

/* Count FRESH with CPU ns. A thread that runs uses CPU time all the while, so
 * its wall time changes as much (read/weigh.c). */
static int
count_fresh(struct interval *interval, const struct interval_fresh *fresh,
            uint64_t cpu)
{
    const struct profile_sample key = interval->profile->samples[fresh->sample];
    uint64_t wall = fresh->wall;
    sum_add(&wall, cpu);
    wall -= fresh->cpu < wall ? fresh->cpu : wall;
    const struct interval_values values = {
        {limited(fresh->count), limited(cpu), limited(wall)}};
    interval->threads[key.thread].given += limited(cpu);
    interval->threads[key.thread].node = key.node;
    return interval_count(interval, &key, &values);
}

static struct interval_thread *
thread_of(const struct interval *interval, const struct interval_fresh *fresh)
{
    return &interval->threads[interval->profile->samples[fresh->sample].thread];
}

/* Give every fresh sample its share. Returns 0, or -1 if memory is short. */
static int
share_fresh(struct interval *interval)
{
    int status = 0;
    for (uint32_t i = 0; i < interval->fresh_count && status == 0; i++) {
        const struct interval_fresh *fresh = &interval->fresh[i];
        struct interval_thread *thread = thread_of(interval, fresh);
        if (!thread->is_sharing)
            set_share(thread);
        status = count_fresh(interval, fresh,
                             share_take(&thread->share, fresh->cpu));
    }
    for (uint32_t i = 0; i < interval->fresh_count; i++) {
        struct interval_thread *thread =
            thread_of(interval, &interval->fresh[i]);
        thread->is_sharing = false;
        thread->share.weight = 0;
    }
    interval->fresh_count = 0;
    return status;
}

/* Where THREAD, which has ended, is believed to have spent the rest of its
 * time. Most threads that live for a few sample points have no sample; they get
 * the stacks of others in turn. */
static uint32_t
last_node(struct interval *interval, uint32_t thread)
{
    const struct profile_thread *at = &interval->profile->threads[thread];
    uint32_t node = interval->threads[thread].node;
    uint32_t known = interval->note_count < INTERVAL_NOTES
                         ? interval->note_count
                         : INTERVAL_NOTES;
    bool is_short =
        short_threads_cover(interval_process(interval)->period, at->cpu);
    if (node == 0)
        return known > 0 ? interval->notes[thread % known]
                         : PROFILE_NOT_SAMPLED;
    if (is_short)
        interval->notes[interval->note_count++ % INTERVAL_NOTES] = node;
    return node;
}

/* Settle the clocks of threads that ended. Clocks are read one after the other,
 * so a sample may have been later than the last reading. */
static int
settle_ended(struct interval *interval)
{
    int status = 0;
    for (uint32_t i = 0; i < interval->ended_count && status == 0; i++) {
        uint32_t thread = interval->ended[i];
        const struct profile_thread *at = &interval->profile->threads[thread];
        int64_t rest = limited(at->cpu) - interval->threads[thread].given;
        if (at->has_cpu && rest != 0)
            status =
                count_time(interval, thread, last_node(interval, thread), rest);
    }
    interval->ended_count = 0;
    return status;
}

/* How far the wait RECORD of THREAD reaches beyond its recorded end, in ns
 * (read/spool.c has the rule). */
static uint64_t
extension_of(const struct interval *interval,
             const struct record_sample *record, uint32_t thread)
{
    uint64_t reached = record->time, limit = interval->load.last_tick;
    uint64_t end = interval->profile->threads[thread].end;
    if ((record->flags & SAMPLE_OPEN) == 0 || record->state == STATE_RUNNING)
        return 0;
    if (!interval->is_last)
        limit -= limit < HOLD_NS ? limit : HOLD_NS;
    if (limit > end)
        limit = end;
    sum_add(&reached, record->duration);
    return limit > reached ? limit - reached : 0;
}

/* The present values of RECORD of THREAD. */
static struct interval_values
values_of(const struct interval *interval, const struct record_sample *record,
          uint32_t thread)
{
    uint64_t period = interval_process(interval)->period;
    uint64_t more = extension_of(interval, record, thread);
    uint64_t wall = record->wall, count = record->count;
    sum_add(&wall, more);
    sum_add(&count, period > 0 ? more / period : 0);
    if (spool_is_unsampled(record))
        wall = record->cpu;
    return (struct interval_values){
        {limited(count), limited(record->cpu), limited(wall)}};
}

/* Count the new values of RECORD of KEY. */
static int
count_news(struct interval *interval, const struct record_sample *record,
           const struct profile_sample *key, struct interval_values *given)
{
    struct interval_values now = values_of(interval, record, key->thread), news;
    bool is_new = false;
    for (unsigned i = 0; i < VALUE_COUNT; i++) {
        news.of[i] = now.of[i] - given->of[i];
        is_new |= news.of[i] != 0;
    }
    *given = now;
    if (!is_new)
        return 0;
    interval->threads[key->thread].given += news.of[VALUE_CPU];
    return interval_count(interval, key, &news);
}

/* The sample that RECORD belongs to. False if it refers to nothing. */
static bool
find_key(struct interval *interval, const struct record_sample *record,
         struct profile_sample *key)
{
    if (!spool_find_key(&interval->load, record, key))
        return false;
    if (spool_is_unsampled(record))
        key->node =
            interval->note_count > 0 ? interval->notes[0] : PROFILE_NOT_SAMPLED;
    /* Epochs are for read/weigh.c. */
    key->epoch = 0;
    return true;
}

/* Read KEPT anew. The process stores the flags of a record last. So they are
 * taken from the earlier of two copies: if they say that a wait is over, the
 * values are final. *IS_OVER: it will not change again. */
static int
reread(struct interval *interval, struct interval_kept *kept, bool *is_over)
{
    struct record_sample before, now;
    struct profile_sample key;
    *is_over = true;
    if (reader_again(interval->reader, kept->place, &before, sizeof(before)) !=
            0 ||
        reader_again(interval->reader, kept->place, &now, sizeof(now)) != 0 ||
        !find_key(interval, &now, &key))
        return 0;
    now.flags = before.flags;
    *is_over = !spool_is_unsampled(&now) && (now.flags & SAMPLE_OPEN) == 0 &&
               (interval->threads[key.thread].place != kept->place ||
                interval->profile->threads[key.thread].end != UINT64_MAX);
    return count_news(interval, &now, &key, &kept->given);
}

/* Read all records that may change; forget those that will not. */
static int
reread_kept(struct interval *interval)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < interval->kept_count; i++) {
        struct interval_kept kept = interval->kept[i];
        bool is_over;
        if (reread(interval, &kept, &is_over) != 0)
            return -1;
        if (!is_over)
            interval->kept[left++] = kept;
    }
    interval->kept_count = left;
    return 0;
}

int
interval_keep_record(struct interval *interval, uint64_t place)
{
    if (!ARRAY_GROW(interval->kept, interval->kept_count))
        return -1;
    interval->kept[interval->kept_count++] =
        (struct interval_kept){.place = place};
    return 0;
}

/* Take a sample that found its thread running. */
static int
take_running(struct interval *interval, const struct record_sample *record,
             const struct profile_sample *key)
{
    struct interval_thread *thread = &interval->threads[key->thread];
    const struct profile_sample *sample =
        spool_load_sample(&interval->load, key);
    if (sample == NULL || !ARRAY_GROW(interval->fresh, interval->fresh_count))
        return -1;
    if (record->age > thread->clock && record->age < LIMIT)
        thread->clock = record->age;
    sum_add(&thread->share.weight, record->cpu);
    interval->fresh[interval->fresh_count++] = (struct interval_fresh){
        .sample = (uint32_t)(sample - interval->profile->samples),
        .count = record->count,
        .cpu = record->cpu,
        .wall = record->wall};
    return interval->fresh_count < FRESH_MOST ? 0 : share_fresh(interval);
}

/* Take a sample. A wait that is over may be opened again, while it is the
 * latest record of its thread. So waits are counted when they are reread. */
static int
take_sample(struct interval *interval, const struct record_sample *record,
            bool is_known)
{
    struct profile_sample key;
    uint64_t place = reader_place(interval->reader);
    if (!find_key(interval, record, &key)) {
        interval->profile->problems++;
        return 0;
    }
    if (interval_make_room(interval) != 0)
        return -1;
    spool_load_see_time(&interval->load, record->time, record->duration);
    spool_load_see_alive(&interval->load, key.thread, record->time);
    interval->threads[key.thread].place = place;
    interval->threads[key.thread].is_gone = false;
    if (is_known)
        return 0;
    if (key.is_measured) {
        struct interval_values nothing = {{0}};
        return count_news(interval, record, &key, &nothing);
    }
    return record->state == STATE_RUNNING && !spool_is_unsampled(record)
               ? take_running(interval, record, &key)
               : interval_keep_record(interval, place);
}

/* Take the end of a thread, or of a session of sampling. */
static int
take_end(struct interval *interval, const struct record_thread_end *record,
         bool is_known)
{
    uint32_t thread = spool_load_number(&interval->load.threads, record->id);
    enum outcome outcome =
        spool_take(&interval->load, RECORD_THREAD_END, record);
    if (outcome != USED || interval_make_room(interval) != 0)
        return outcome == SENSELESS ? 0 : -1;
    interval->threads[thread].is_gone = (record->flags & THREAD_END_ALIVE) == 0;
    if (is_known)
        return 0;
    if (!ARRAY_GROW(interval->ended, interval->ended_count))
        return -1;
    interval->ended[interval->ended_count++] = thread;
    return 0;
}

int
interval_take_record(struct interval *interval, enum record_kind kind,
                     const void *record, bool is_known)
{
    switch (kind) {
    case RECORD_SAMPLE:
        return take_sample(interval, record, is_known);
    case RECORD_THREAD_END:
        return take_end(interval, record, is_known);
    case RECORD_COUNTS:
        interval->counts_place = reader_place(interval->reader);
        return 0;
    case RECORD_MARK:
        return 0;
    case RECORD_SUMMARY:
        interval->is_over = true;
        break;
    default:
        break;
    }
    return spool_take(&interval->load, kind, record) == FAILED ? -1 : 0;
}

/* Read COUNTS again, which changes in place. */
static void
reread_counts(struct interval *interval)
{
    uint64_t words[WORDS_MOST];
    if (interval->counts_place != 0 &&
        reader_again(interval->reader, interval->counts_place, words,
                     sizeof(words)) == 0 &&
        record_size_of(words[0]) <= sizeof(words) && record_is_valid(words))
        (void)spool_take(&interval->load, RECORD_COUNTS, words);
}

/* Forget the samples of the take before. */
static void
clear_samples(struct interval *interval)
{
    struct profile *profile = interval->profile;
    profile->sample_count = 0;
    intern_clear(&profile->keys);
    memset(profile->totals, 0, sizeof(profile->totals));
    memset(profile->states, 0, sizeof(profile->states));
    for (uint32_t i = 0; i < profile->thread_count; i++)
        memset(profile->threads[i].values, 0,
               sizeof(profile->threads[i].values));
}

/* Remove samples without values, and make the sums of the others. */
static void
sum_samples(struct interval *interval)
{
    struct profile *profile = interval->profile;
    uint32_t left = 0;
    for (uint32_t i = 0; i < profile->sample_count; i++) {
        const struct profile_sample sample = profile->samples[i];
        uint64_t *thread = profile->threads[sample.thread].values, any = 0;
        for (unsigned j = 0; j < VALUE_COUNT; j++) {
            any |= sample.values[j];
            sum_add(&thread[j], sample.values[j]);
            sum_add(&profile->totals[j], sample.values[j]);
        }
        sum_add(&profile->states[sample.state], sample.values[VALUE_SAMPLES]);
        if (any != 0)
            profile->samples[left++] = sample;
    }
    profile->sample_count = left;
}

/* Set the counters of the interval. */
static void
set_cost(struct interval *interval)
{
    struct profile_cost *cost = &interval->profile->cost;
    const uint64_t *now = (const uint64_t *)&interval->load.cost;
    const uint64_t *before = (const uint64_t *)&interval->cost;
    *cost = (struct profile_cost){0};
    for (unsigned i = 0; i < INTERVAL_COUNTERS; i++)
        ((uint64_t *)cost)[i] = now[i] > before[i] ? now[i] - before[i] : 0;
    interval->cost = interval->load.cost;
}

/* Set the time of the interval, and have its names looked up. */
static void
set_times(struct interval *interval)
{
    struct profile *profile = interval->profile;
    struct profile_process *process = &profile->processes[0];
    uint64_t until =
        interval->is_last ? interval->load.end : interval->load.last_tick;
    if (until < interval->until)
        until = interval->until;
    process->duration = interval->load.end;
    profile->start = process->start;
    sum_add(&profile->start, interval->until);
    profile->duration = until - interval->until;
    interval->until = until;
    profile->has_looked_up = false;
    if (naming_has_news(profile))
        naming_forget(profile);
}

/* The order matters. A thread's end bounds its wait and is among the records.
 * The last tick bounds all other waits and is in COUNTS. */
int
interval_read(struct interval *interval)
{
    const void *record;
    enum record_kind kind;
    int status = 0;
    clear_samples(interval);
    while (status == 0 &&
           (record = reader_next(interval->reader, &kind)) != NULL)
        status = interval_take_record(interval, kind, record, false);
    if (status == 0)
        status = interval_make_room(interval);
    if (status == 0)
        status = share_fresh(interval);
    if (status == 0)
        status = settle_ended(interval);
    reread_counts(interval);
    if (status == 0)
        status = reread_kept(interval);
    /* Modules that come later are looked up in the mappings of that time. */
    spool_load_forget_mapped(&interval->load);
    return status;
}

int
interval_complete(struct interval *interval, int status)
{
    reader_rest(interval->reader);
    sum_samples(interval);
    set_cost(interval);
    set_times(interval);
    if (status != 0)
        errno = ENOMEM;
    return status;
}

int
interval_take(struct interval *interval)
{
    return interval_complete(interval, interval_read(interval));
}

struct profile *
interval_profile(const struct interval *interval)
{
    return interval->profile;
}

const struct spool_header *
interval_header(const struct interval *interval)
{
    return reader_header(interval->reader);
}

const struct profile_process *
interval_process(const struct interval *interval)
{
    return &interval->profile->processes[0];
}

const struct profile_cost *
interval_cost(const struct interval *interval)
{
    return &interval->load.cost;
}

uint32_t
interval_living(const struct interval *interval)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < interval->profile->thread_count; i++)
        count += interval->profile->threads[i].end == UINT64_MAX;
    return count;
}

bool
interval_is_over(const struct interval *interval)
{
    return interval->is_over;
}

bool
interval_is_at(const struct interval *interval, const char *path)
{
    struct stat now;
    return stat(path, &now) == 0 && now.st_dev == interval->device &&
           now.st_ino == interval->inode;
}

void
interval_file(const struct interval *interval, dev_t *device, ino_t *inode)
{
    *device = interval->device;
    *inode = interval->inode;
}

const char *
interval_name(const struct interval *interval)
{
    return interval->name;
}

const char *
interval_problem(const struct interval *interval)
{
    return reader_problem(interval->reader);
}

/* Give INTERVAL its name, from the header of its spool. */
static void
set_name(struct interval *interval)
{
    const struct spool_header *header = reader_header(interval->reader);
    snprintf(interval->name, sizeof(interval->name),
             "%u.%u.%" PRIu64 ".%" PRIu64 ".%" PRIu64, header->pid,
             header->pid_namespace, header->start_realtime,
             header->start_monotonic, header->begin);
}

/* Open the spool, and note which file it is. A flight recorder may put another
 * file at PATH meanwhile; then it is opened again. */
static struct reader *
open_reader(struct interval *interval, const char *path, char *error,
            size_t size)
{
    struct reader *reader = NULL;
    struct stat now = {0};
    do {
        reader_end(reader);
        (void)stat(path, &now);
        interval->device = now.st_dev;
        interval->inode = now.st_ino;
        reader = reader_open(path, error, size);
    } while (reader != NULL && stat(path, &now) == 0 &&
             !interval_is_at(interval, path));
    return reader;
}

struct interval *
interval_open(const char *path, const struct symbolizer_options *options,
              char *error, size_t size)
{
    struct interval *interval = calloc(1, sizeof(*interval));
    if (interval == NULL) {
        snprintf(error, size, "%s", strerror(errno));
        return NULL;
    }
    interval->reader = open_reader(interval, path, error, size);
    if (interval->reader == NULL)
        goto err;
    if (reader_header(interval->reader)->version != SPOOL_VERSION) {
        snprintf(error, size, "%s: expected the spool of one process", path);
        goto err;
    }
    snprintf(error, size, "%s", strerror(ENOMEM));
    interval->profile = profile_new(options);
    interval->load.profile = interval->profile;
    if (interval->profile == NULL ||
        spool_begin(&interval->load, reader_header(interval->reader)) != 0)
        goto err;
    interval->begin = reader_offset(interval->reader);
    reader_rest(interval->reader);
    interval->until = interval_process(interval)->begin;
    set_name(interval);
    error[0] = '\0';
    return interval;

err:
    interval_close(interval);
    return NULL;
}

void
interval_tell_pid(struct interval *interval, uint32_t pid)
{
    interval->load.pid = pid;
    interval->load.is_here = true;
}

void
interval_close(struct interval *interval)
{
    if (interval == NULL)
        return;
    if (interval->profile != NULL)
        spool_load_release(&interval->load);
    profile_free(interval->profile);
    reader_end(interval->reader);
    free(interval->threads);
    free(interval->kept);
    free(interval->fresh);
    free(interval->ended);
    free(interval);
}
