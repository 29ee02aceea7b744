/* SPDX-License-Identifier: MIT */
/*
 * weigh.c -- samples say where CPU time went, and the clocks of the threads say
 * how much there was. The samples of a thread share its clock's time in
 * proportion to the CPU time that they were recorded with.
 *
 * The hard part is threads that live for a few sample points only. Such a
 * thread has no sample, or one or two, and each number is wrong for that
 * thread: some threads lose everything, others get much too much. So they are
 * weighed as one group, together with those without a sample. Their moments did
 * not all have the same chance to be sampled, but moments at the same age had.
 * How much CPU time the group used at each age is known. That time is shared by
 * its samples of this age (short_threads.h). What a single thread gets from the
 * group says nothing.
 *
 * CPU time that a hook measured is exact, and takes part in no sharing.
 *
 * All shares are taken from shares (util/share.h), so the sum of shares is
 * exact.
 */
#include <stdlib.h>

#include "model/events.h"
#include "util/array.h"
#include "util/share.h"
#include "short_threads.h"
#include "spool_load.h"
#include "weigh.h"

enum rule { AS_RECORDED, BY_CPU, BY_COUNT, IN_GROUP };

/* How a thread is weighed. */
struct entry {
    enum rule rule;
    uint64_t count;     /* sample points that found it running */
    uint64_t idle;      /* ns of CPU time of its other samples */
    struct share share; /* what its own samples share */
};

struct weigh {
    struct spool_load *load;
    uint64_t period;
    struct entry *entries;      /* by thread, from the spool's first */
    struct short_threads group; /* all threads with IN_GROUP */
    uint64_t due;               /* ns of CPU time that the group shares */
};

static uint64_t
period_of(const struct spool_load *load)
{
    return load->profile->processes[load->process].period;
}

/* Whether SAMPLE is weighed. Others keep the CPU time that they
 * were recorded with. */
static bool
is_weighed(const struct profile_sample *sample)
{
    return sample->state == STATE_RUNNING && !sample->is_measured;
}

/* Whether a thread is short is known at its end, so all young records are
 * noted: a thread has few of them, however long it runs. A short thread has no
 * others, unless its clock began before it was profiled, or the spool is
 * damaged. For that case one note for each sample is enough. */
int
weigh_note(struct spool_load *load, const struct record_sample *record,
           const struct profile_sample *sample)
{
    bool is_first = sample->values[VALUE_SAMPLES] == 0;
    if (!is_weighed(sample) || record->count == 0 ||
        (record->flags & SAMPLE_SUMMED) != 0 ||
        (!short_threads_cover(period_of(load), record->age) && !is_first))
        return 0;
    if (!ARRAY_GROW(load->notes, load->note_count))
        return -1;
    load->notes[load->note_count++] = (struct weigh_note){
        .sample = (uint32_t)(sample - load->profile->samples),
        .age = record->age,
    };
    return 0;
}

int
weigh_note_unsampled(struct spool_load *load,
                     const struct record_sample *record, uint32_t thread)
{
    if (!ARRAY_GROW(load->unsampled, load->unsampled_count))
        return -1;
    load->unsampled[load->unsampled_count++] =
        (struct weigh_unsampled){.thread = thread,
                                 .cpu = record->cpu,
                                 .age = record->age};
    sum_add(&load->profile->threads[thread].unsampled, record->cpu);
    return 0;
}

static struct entry *
entry_of(const struct weigh *weigh, uint32_t thread)
{
    return &weigh->entries[thread - weigh->load->first_thread];
}

/* Sum up the running and other samples of each thread. */
static void
sum_threads(struct weigh *weigh)
{
    const struct profile *profile = weigh->load->profile;
    uint32_t i = weigh->load->first_sample;
    for (; i < profile->sample_count; i++) {
        const struct profile_sample *sample = &profile->samples[i];
        struct entry *entry = entry_of(weigh, sample->thread);
        if (is_weighed(sample)) {
            sum_add(&entry->count, sample->values[VALUE_SAMPLES]);
            sum_add(&entry->share.weight, sample->values[VALUE_CPU]);
        } else {
            sum_add(&entry->idle, sample->values[VALUE_CPU]);
        }
    }
}

/* Whether THREAD is short. The recorder writes the CPU time of threads that
 * came and went unseen as that of a thread without samples. */
static bool
is_short(const struct profile_thread *thread, const struct entry *entry,
         uint64_t period)
{
    if (thread->unsampled > 0 && entry->count == 0)
        return true;
    return thread->has_exact_cpu && short_threads_cover(period, thread->cpu);
}

/* The CPU time that THREAD used, by its clock or by records without a
 * sample. */
static uint64_t
clock_of(const struct profile_thread *thread)
{
    return thread->cpu > thread->unsampled ? thread->cpu : thread->unsampled;
}

/* Choose the rule for a thread outside the group. All its samples may be of a
 * kind that is recorded without CPU time; then counts decide. */
static void
choose_own(const struct profile_thread *thread, struct entry *entry)
{
    entry->rule = thread->has_cpu ? BY_CPU : AS_RECORDED;
    entry->share.due = thread->has_cpu ? thread->cpu : thread->unsampled;
    if (entry->rule == BY_CPU && entry->share.weight == 0) {
        entry->rule = BY_COUNT;
        entry->share.weight = entry->count;
    }
}

/* Choose how a thread is weighed, and what its running samples share: the time
 * of its clock, less the time of samples that are not weighed. */
static void
choose_rule(struct weigh *weigh, const struct profile_thread *thread,
            struct entry *entry)
{
    if (is_short(thread, entry, weigh->period)) {
        entry->rule = IN_GROUP;
        entry->share.due = clock_of(thread);
        short_threads_add_thread(&weigh->group,
                                 entry->share.due - thread->unsampled);
    } else {
        choose_own(thread, entry);
    }
    if (entry->rule == AS_RECORDED)
        return;
    entry->share.due -=
        entry->idle < entry->share.due ? entry->idle : entry->share.due;
    if (entry->rule == IN_GROUP)
        sum_add(&weigh->due, entry->share.due);
}

static bool
is_in_group(const struct weigh *weigh, const struct weigh_note *note)
{
    const struct profile *profile = weigh->load->profile;
    uint32_t thread = profile->samples[note->sample].thread;
    return entry_of(weigh, thread)->rule == IN_GROUP;
}

/* Once all threads have their rule, collect what belongs to the group. The ages
 * at which its CPU time outside of running samples was used are unknown, so
 * each age has the same part of it. */
static void
gather_group(struct weigh *weigh)
{
    const struct spool_load *load = weigh->load;
    for (size_t i = 0; i < load->unsampled_count; i++) {
        const struct weigh_unsampled *unsampled = &load->unsampled[i];
        if (entry_of(weigh, unsampled->thread)->rule == IN_GROUP)
            short_threads_add_mass(&weigh->group, unsampled->age,
                                   unsampled->cpu);
    }
    for (size_t i = 0; i < load->note_count; i++)
        if (is_in_group(weigh, &load->notes[i]))
            short_threads_add_note(&weigh->group, load->notes[i].age);
    short_threads_finish(&weigh->group, weigh->due);
}

/* A running thread uses CPU time all the while. So its wall time is wrong by
 * the same amount as its CPU time. */
static void
set_cpu(struct profile_sample *sample, uint64_t cpu)
{
    uint64_t *wall = &sample->values[VALUE_WALL];
    uint64_t old = sample->values[VALUE_CPU];
    sum_add(wall, cpu);
    *wall -= old < *wall ? old : *wall;
    sample->values[VALUE_CPU] = cpu;
}

/* Give each running sample its share of its thread's time. Samples of the group
 * give back what they were recorded with. */
static void
share_own(struct weigh *weigh)
{
    struct profile *profile = weigh->load->profile;
    uint32_t i = weigh->load->first_sample;
    for (; i < profile->sample_count; i++) {
        struct profile_sample *sample = &profile->samples[i];
        struct entry *entry = entry_of(weigh, sample->thread);
        const uint64_t *values = sample->values;
        if (!is_weighed(sample) || entry->rule == AS_RECORDED)
            continue;
        if (entry->rule == IN_GROUP)
            set_cpu(sample, 0);
        else if (entry->rule == BY_COUNT)
            set_cpu(sample, share_take(&entry->share, values[VALUE_SAMPLES]));
        else
            set_cpu(sample, share_take(&entry->share, values[VALUE_CPU]));
    }
}

/* Give a sample of the group a share for each of its notes. */
static void
share_group(struct weigh *weigh)
{
    const struct spool_load *load = weigh->load;
    for (size_t i = 0; i < load->note_count; i++) {
        const struct weigh_note *note = &load->notes[i];
        struct profile_sample *sample = &load->profile->samples[note->sample];
        if (!is_in_group(weigh, note))
            continue;
        set_cpu(sample, sample->values[VALUE_CPU] +
                            short_threads_share(&weigh->group, note->age));
    }
}

/* The CPU time of a thread that no sample can have a share of. */
static uint64_t
left_of(const struct weigh *weigh, const struct entry *entry)
{
    uint64_t weight = entry->share.weight;
    if (entry->rule == IN_GROUP)
        weight = weigh->group.notes;
    else if (entry->rule == AS_RECORDED)
        weight = 0;
    return weight == 0 ? entry->share.due : 0;
}

static int
add_unsampled(struct weigh *weigh, uint32_t thread, uint64_t cpu)
{
    const struct profile_sample key = {
        .thread = thread,
        .node = PROFILE_NOT_SAMPLED,
        .system_call = SYSCALL_UNKNOWN,
        .state = STATE_RUNNING,
        .waits_on = "",
    };
    struct profile_sample *sample = spool_load_sample(weigh->load, &key);
    if (sample == NULL)
        return -1;
    sample->values[VALUE_CPU] = cpu;
    sample->values[VALUE_WALL] = cpu;
    return events_add_unsampled(weigh->load->profile, sample, weigh->load->end);
}

int
weigh_samples(struct spool_load *load)
{
    const struct profile *profile = load->profile;
    uint32_t count = profile->thread_count - load->first_thread;
    struct weigh weigh = {.load = load, .period = period_of(load)};
    int status = 0;
    weigh.entries = calloc((size_t)count + 1, sizeof(*weigh.entries));
    if (weigh.entries == NULL)
        return -1;
    short_threads_begin(&weigh.group, weigh.period);
    sum_threads(&weigh);
    for (uint32_t i = 0; i < count; i++)
        choose_rule(&weigh, &profile->threads[load->first_thread + i],
                    &weigh.entries[i]);
    gather_group(&weigh);
    share_own(&weigh);
    share_group(&weigh);
    for (uint32_t i = 0; i < count && status == 0; i++) {
        uint64_t left = left_of(&weigh, &weigh.entries[i]);
        if (left > 0)
            status = add_unsampled(&weigh, load->first_thread + i, left);
    }
    free(weigh.entries);
    return status;
}
