/* SPDX-License-Identifier: MIT */
/*
 * cpu_share.c -- see watch_parts.h. Each sample says how much CPU time its
 * thread had used by then, according to the thread's own clock. The new samples
 * of a thread share the time by which the clock has moved since the samples
 * before them:
 *
 *    age        3 ms         6 ms  7 ms          10 ms
 *    recorded   1 ms    |    1 ms  1 ms    |     1 ms
 *    shared     3 ms    |    2 ms  2 ms    |     3 ms
 *
 * When a thread ends, the samples that still wait also share the rest. If none
 * waits, the last sample gets it. Most threads that live
 * for less than a few sample points have no sample. Their CPU time is given in
 * turn to the stacks of the short threads that have one, the latest WATCH_NOTES
 * of them. Until such a stack exists, the time goes to PROFILE_NOT_SAMPLED. (A
 * report also knows at which ages such threads are seen; that takes all of
 * them.)
 *
 * Samples wait for their share until the end of the look, or until FRESH_MOST
 * of them wait: the first look may find millions.
 */
#include "read/short_threads.h"
#include "read/spool_load.h"
#include "store/record.h"
#include "util/array.h"
#include "util/intern.h"
#include "watch_parts.h"

enum { FRESH_MOST = 65536 };

int
cpu_share_put(struct watch *watch, const struct record_sample *record,
              uint32_t sample)
{
    struct watch_thread *thread =
        &watch->threads[watch->profile->samples[sample].thread];
    if (!ARRAY_GROW(watch->fresh, watch->fresh_count))
        return -1;
    watch->fresh[watch->fresh_count++] = (struct cpu_sample){
        .sample = sample,
        .count =
            record->count < UINT32_MAX ? (uint32_t)record->count : UINT32_MAX,
        .time = record->time,
        .cpu = record->cpu,
        .wall = record->wall,
    };
    if (record->age > thread->clock && record->age < INT64_MAX / 4)
        thread->clock = record->age;
    sum_add(&thread->share.weight, record->cpu);
    thread->last_run = sample + 1;
    thread->has_run = true;
    return watch->fresh_count < FRESH_MOST ? 0 : cpu_share_all(watch);
}

/* Whether THREAD lived for no more than a few sample points. */
static bool
is_short(const struct watch *watch, uint32_t thread)
{
    const struct profile *profile = watch->profile;
    return short_threads_cover(profile->processes[0].period,
                               profile->threads[thread].cpu);
}

int
cpu_share_put_end(struct watch *watch, uint32_t thread)
{
    const struct profile_thread *at = &watch->profile->threads[thread];
    struct watch_thread *of = &watch->threads[thread];
    if (at->has_exact_cpu && of->share.weight != 0 && of->clock != 0 &&
        at->cpu > of->clock && at->cpu < INT64_MAX / 4 &&
        !is_short(watch, thread))
        of->clock = at->cpu;
    if (!ARRAY_GROW(watch->ended, watch->ended_count))
        return -1;
    watch->ended[watch->ended_count++] = thread;
    return 0;
}

/* The part of the CPU time CLOCK of THREAD that no sample has yet, in ns. */
static uint64_t
rest_of(const struct watch_thread *thread, uint64_t clock)
{
    uint64_t given = thread->given > 0 ? (uint64_t)thread->given : 0;
    return clock > given ? clock - given : 0;
}

/* Set what the new samples of THREAD share. If the thread has no clock, its
 * samples keep what they recorded. */
static void
set_share(struct watch_thread *thread)
{
    thread->is_sharing = true;
    thread->share.passed = 0;
    thread->share.due = rest_of(thread, thread->clock);
    if (thread->clock == 0)
        thread->share.due = thread->share.weight;
}

/* Count CPU ns for the sample RECORDED, which may have recorded more or less.
 */
static int
count_share(struct watch *watch, const struct cpu_sample *recorded,
            uint64_t cpu)
{
    uint32_t thread = watch->profile->samples[recorded->sample].thread;
    uint64_t wall = recorded->wall;
    struct record_sample record = {.time = recorded->time,
                                   .count = recorded->count,
                                   .cpu = cpu,
                                   .state = STATE_RUNNING};
    struct contribution given;
    /* A thread that runs uses CPU time all the while (weigh.c). */
    sum_add(&wall, cpu);
    record.wall = wall - (recorded->cpu < wall ? recorded->cpu : wall);
    given = apply_contribution(watch, &record, thread);
    return apply_count(watch, recorded->sample, &given, NULL);
}

/* The sample of THREAD running in NODE. INTERN_NONE if memory is short. */
static uint32_t
sample_at(struct watch *watch, uint32_t thread, uint32_t node)
{
    const struct profile_sample key = {.thread = thread,
                                       .node = node,
                                       .system_call = SYSCALL_UNKNOWN,
                                       .state = STATE_RUNNING,
                                       .waits_on = ""};
    const struct profile_sample *sample = spool_load_sample(watch->load, &key);
    return sample == NULL || apply_room(watch) != 0
               ? INTERN_NONE
               : (uint32_t)(sample - watch->profile->samples);
}

static uint32_t
notes_known(const struct watch *watch)
{
    return watch->note_count < WATCH_NOTES ? watch->note_count : WATCH_NOTES;
}

/* The sample that gets the rest of THREAD; INTERN_NONE if memory is short. The
 * stack of a short thread is noted. */
static uint32_t
last_sample(struct watch *watch, uint32_t thread)
{
    const struct profile *profile = watch->profile;
    uint32_t last_run = watch->threads[thread].last_run;
    uint32_t known = notes_known(watch);
    if (last_run == 0)
        return sample_at(watch, thread,
                         known > 0 ? watch->notes[thread % known]
                                   : PROFILE_NOT_SAMPLED);
    if (is_short(watch, thread))
        watch->notes[watch->note_count++ % WATCH_NOTES] =
            profile->samples[last_run - 1].node;
    return last_run - 1;
}

/* Settle the clock of THREAD, which has ended. Clocks that are read one after
 * the other differ by a little, so the samples may already have more than the
 * clock. */
static int
share_rest(struct watch *watch, uint32_t thread)
{
    const struct profile_thread *at = &watch->profile->threads[thread];
    uint64_t clock = at->cpu < INT64_MAX / 4 ? at->cpu : INT64_MAX / 4;
    uint64_t rest = rest_of(&watch->threads[thread], clock);
    const struct record_sample record = {.time = at->end,
                                         .cpu = rest,
                                         .wall = rest,
                                         .state = STATE_RUNNING};
    struct contribution given;
    if (!at->has_exact_cpu || rest == 0)
        return 0;
    uint32_t sample = last_sample(watch, thread);
    if (sample == INTERN_NONE)
        return -1;
    given = apply_contribution(watch, &record, thread);
    return apply_count(watch, sample, &given, NULL);
}

/* Part I of the COUNT parts of VALUE; the parts add up to VALUE. */
static int64_t
part_of(int64_t value, uint32_t i, uint32_t count)
{
    __extension__ __int128 whole = value;
    return (int64_t)(whole * (i + 1) / count - whole * i / count);
}

int
cpu_share_spread(struct watch *watch, uint32_t thread,
                 const struct contribution *given,
                 const struct contribution *before)
{
    uint32_t count = notes_known(watch) > 0 ? notes_known(watch) : 1;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t node =
            watch->note_count > 0 ? watch->notes[i] : PROFILE_NOT_SAMPLED;
        uint32_t sample = sample_at(watch, thread, node);
        struct contribution share = {0};
        if (sample == INTERN_NONE)
            return -1;
        for (unsigned j = 0; j < VALUE_COUNT; j++) {
            share.all[j] = part_of(given->all[j] - before->all[j], i, count);
            share.kept[j] = part_of(given->kept[j] - before->kept[j], i, count);
        }
        if (apply_count(watch, sample, &share, NULL) != 0)
            return -1;
    }
    return 0;
}

static struct watch_thread *
thread_of(const struct watch *watch, const struct cpu_sample *fresh)
{
    return &watch->threads[watch->profile->samples[fresh->sample].thread];
}

int
cpu_share_all(struct watch *watch)
{
    int status = 0;
    for (uint32_t i = 0; i < watch->fresh_count && status == 0; i++) {
        const struct cpu_sample *fresh = &watch->fresh[i];
        struct watch_thread *thread = thread_of(watch, fresh);
        if (!thread->is_sharing)
            set_share(thread);
        status =
            count_share(watch, fresh, share_take(&thread->share, fresh->cpu));
    }
    for (uint32_t i = 0; i < watch->fresh_count; i++) {
        struct watch_thread *thread = thread_of(watch, &watch->fresh[i]);
        thread->is_sharing = false;
        thread->share.weight = 0;
    }
    watch->fresh_count = 0;
    for (uint32_t i = 0; i < watch->ended_count && status == 0; i++)
        status = share_rest(watch, watch->ended[i]);
    watch->ended_count = 0;
    return status;
}
