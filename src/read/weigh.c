/* SPDX-License-Identifier: MIT */
/*
 * weigh.c -- samples show where CPU time went, and the clocks of the threads
 * show how much it was. The samples of a thread share its clock's time in
 * proportion to the CPU time that they were recorded with.
 *
 * The rate may change while a program runs, and so may what it does. So each
 * thread's time is shared within each epoch (epochs.h). The samples of an epoch
 * share what the thread used in it. An epoch with few samples of the thread is
 * joined with the next one, because such shares would be rough.
 *
 * The hard part is threads that live for a few sample points only. Such a
 * thread has no sample, or one or two. Each of these numbers is wrong for that
 * thread: its share is nothing, or much too large. So all short threads are
 * weighed as one group. A moment's chance to be sampled depends on the age of
 * its thread. The CPU time that the group used at each age is known. The
 * samples of this age share that time (short_threads.h). The share of a single
 * thread in the group has no meaning. Each epoch has a group, because ages
 * count in periods.
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
#include "epochs.h"
#include "short_threads.h"
#include "spool_load.h"
#include "weigh.h"

/* The least number of sample points by which a part of a thread's time is
 * shared on its own. */
enum { PART_LEAST = 16 };

/* Rough limit of the parts of a spool, which bounds their memory. In a spool
 * with more, the last epochs are one part. */
enum { PARTS_MOST = 1 << 22 };

enum rule { AS_RECORDED, BY_CPU, BY_COUNT, IN_GROUP };

/* How a thread is weighed. */
struct entry {
    enum rule rule;
    uint32_t group;     /* the epoch in which it began */
    uint64_t count;     /* sample points that found it running */
    uint64_t weight;    /* ns of CPU time that these were recorded with */
    uint64_t idle;      /* ns of CPU time of its waits */
    struct share share; /* what its own samples share */
};

/* A thread's part of an epoch. */
struct part {
    uint64_t begin;     /* the thread's clock when the epoch began, ns */
    uint64_t count;     /* its sample points that have CPU time */
    uint64_t measured;  /* ns of CPU time that a hook measured */
    struct share share; /* of this epoch and those that are joined to it */
    uint32_t shared_in; /* the epoch with that share */
};

/* Short threads that began in one epoch. */
struct group {
    struct short_threads threads;
    uint64_t notes;
    uint64_t due;       /* ns of CPU time that they share */
    uint32_t shared_in; /* the group with their notes */
};

struct weigh {
    struct spool_load *load;
    uint32_t epochs;
    struct entry *entries; /* by thread, from the spool's first */
    struct part *parts;    /* EPOCHS of each thread */
    struct group *groups;  /* one for each epoch */
};

/* Whether SAMPLE is weighed. Other samples keep the CPU time that they were
 * recorded with. */
static bool
is_weighed(const struct profile_sample *sample)
{
    return sample->state == STATE_RUNNING && !sample->is_measured;
}

/* Only the end of a thread shows whether it is short. So all young records are
 * noted; any thread has few of them. A short thread has older records if its
 * clock began before it was profiled, or if the spool is damaged. For that case
 * one note for each sample is enough. */
int
weigh_note(struct spool_load *load, const struct record_sample *record,
           const struct profile_sample *sample)
{
    bool is_first = sample->values[VALUE_SAMPLES] == 0;
    if (!is_weighed(sample) || record->count == 0 ||
        (record->flags & SAMPLE_SUMMED) != 0 ||
        (!short_threads_cover(epochs_longest(load), record->age) && !is_first))
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
                                 .epoch = epochs_at(load, record->time),
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

/* The parts of THREAD, one for each epoch. */
static struct part *
parts_of(const struct weigh *weigh, uint32_t thread)
{
    return weigh->parts +
           (size_t)(thread - weigh->load->first_thread) * weigh->epochs;
}

/* EPOCH, or the last one that has parts. */
static uint32_t
bounded(const struct weigh *weigh, uint32_t epoch)
{
    return epoch < weigh->epochs ? epoch : weigh->epochs - 1;
}

/* Threads whose end was not seen have the clock of the sampler's last look. */
static void
take_live_clocks(struct spool_load *load)
{
    uint32_t i = load->first_thread;
    for (; i < load->profile->thread_count; i++) {
        struct profile_thread *thread = &load->profile->threads[i];
        if (thread->has_cpu || thread->live_cpu == 0)
            continue;
        thread->cpu = thread->live_cpu;
        thread->has_cpu = true;
    }
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
        struct part *part =
            parts_of(weigh, sample->thread) + bounded(weigh, sample->epoch);
        uint64_t points = sample->values[VALUE_SAMPLES];
        uint64_t cpu = sample->values[VALUE_CPU];
        if (is_weighed(sample)) {
            sum_add(&entry->count, points);
            sum_add(&entry->weight, cpu);
            sum_add(&part->count, cpu > 0 ? points : 0);
            sum_add(&part->share.weight, cpu);
        } else if (sample->is_measured) {
            sum_add(&part->measured, cpu);
        } else {
            sum_add(&entry->idle, cpu);
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

/* Choose the rule for a thread outside the groups. If all its samples were
 * recorded without CPU time, their counts decide. */
static void
choose_own(const struct profile_thread *thread, struct entry *entry)
{
    entry->rule = thread->has_cpu ? BY_CPU : AS_RECORDED;
    entry->share.due = thread->has_cpu ? thread->cpu : thread->unsampled;
    if (entry->rule == BY_CPU && entry->weight == 0) {
        entry->rule = BY_COUNT;
        entry->share.weight = entry->count;
    }
}

static void
subtract(uint64_t *from, uint64_t part)
{
    *from -= part < *from ? part : *from;
}

/* Choose how a thread is weighed, and the time that its running samples share.
 * That is its clock's time, less the time of samples that are not weighed. */
static void
choose_rule(struct weigh *weigh, const struct profile_thread *thread,
            struct entry *entry, const struct part *parts)
{
    entry->group = bounded(weigh, epochs_at(weigh->load, thread->start));
    if (is_short(thread, entry, epochs_period(weigh->load, entry->group))) {
        entry->rule = IN_GROUP;
        entry->share.due = clock_of(thread);
    } else {
        choose_own(thread, entry);
    }
    if (entry->rule == AS_RECORDED)
        return;
    subtract(&entry->share.due, entry->idle);
    for (uint32_t i = 0; i < weigh->epochs; i++)
        subtract(&entry->share.due, parts[i].measured);
}

/* Note the threads' clocks at the beginning of each epoch. */
static void
place_clocks(struct weigh *weigh)
{
    const struct spool_load *load = weigh->load;
    for (size_t i = 0; i < load->clock_count; i++) {
        const struct weigh_clock *clock = &load->clocks[i];
        if (clock->epoch < weigh->epochs)
            parts_of(weigh, clock->thread)[clock->epoch].begin = clock->cpu;
    }
}

/* Divide the CPU time of a thread among its epochs. It is not known when the
 * CPU time of waits was used. It is little, and is taken off the last
 * epochs. */
static void
divide_time(const struct weigh *weigh, const struct profile_thread *thread,
            struct part *parts, uint64_t idle)
{
    uint64_t end = thread->cpu;
    for (uint32_t i = 1; i < weigh->epochs; i++) {
        if (parts[i].begin > end)
            parts[i].begin = end;
        if (parts[i].begin < parts[i - 1].begin)
            parts[i].begin = parts[i - 1].begin;
    }
    parts[0].begin = 0;
    for (uint32_t i = weigh->epochs; i-- > 0; end = parts[i].begin) {
        uint64_t due = end - parts[i].begin;
        subtract(&due, parts[i].measured);
        uint64_t waited = idle < due ? idle : due;
        idle -= waited;
        parts[i].share.due = due - waited;
    }
}

/* Join epochs, from the first on, until each share has enough points. A share
 * ends where both it and the rest have enough. */
static void
join_parts(const struct weigh *weigh, struct part *parts)
{
    uint64_t left = 0, count = 0;
    uint32_t into = 0;
    for (uint32_t i = 0; i < weigh->epochs; i++)
        sum_add(&left, parts[i].count);
    for (uint32_t i = 0; i < weigh->epochs; i++) {
        if (i != into) {
            sum_add(&parts[into].share.due, parts[i].share.due);
            sum_add(&parts[into].share.weight, parts[i].share.weight);
        }
        parts[i].shared_in = into;
        sum_add(&count, parts[i].count);
        subtract(&left, parts[i].count);
        if (count >= PART_LEAST && left >= PART_LEAST) {
            into = i + 1;
            count = 0;
        }
    }
}

static bool
is_in_group(const struct weigh *weigh, const struct weigh_note *note)
{
    const struct profile *profile = weigh->load->profile;
    uint32_t thread = profile->samples[note->sample].thread;
    return entry_of(weigh, thread)->rule == IN_GROUP;
}

/* The group whose samples share the time of threads that began in EPOCH. */
static struct group *
group_of(const struct weigh *weigh, uint32_t epoch)
{
    return &weigh->groups[weigh->groups[epoch].shared_in];
}

/* The group of NOTE, whose thread is in a group. */
static struct group *
group_of_note(const struct weigh *weigh, const struct weigh_note *note)
{
    const struct profile *profile = weigh->load->profile;
    uint32_t thread = profile->samples[note->sample].thread;
    return group_of(weigh, entry_of(weigh, thread)->group);
}

/* A group without a note joins the next that has one, or else the last. */
static void
join_groups(struct weigh *weigh)
{
    const struct spool_load *load = weigh->load;
    uint32_t last = 0;
    for (uint32_t i = 0; i < weigh->epochs; i++)
        weigh->groups[i].shared_in = i;
    for (size_t i = 0; i < load->note_count; i++)
        if (is_in_group(weigh, &load->notes[i]))
            group_of_note(weigh, &load->notes[i])->notes++;
    for (uint32_t i = 0; i < weigh->epochs; i++)
        if (weigh->groups[i].notes > 0)
            last = i;
    for (uint32_t i = weigh->epochs; i-- > 0;) {
        if (weigh->groups[i].notes > 0)
            last = i;
        weigh->groups[i].shared_in = last;
        short_threads_begin(&weigh->groups[i].threads, epochs_period(load, i));
    }
}

/* Add a thread to its group, except its records of CPU time without a sample.
 * gather_groups adds these. */
static void
add_to_group(struct weigh *weigh, const struct profile_thread *thread,
             const struct entry *entry)
{
    struct group *group = group_of(weigh, entry->group);
    uint64_t due = entry->share.due;
    short_threads_add_thread(&group->threads,
                             clock_of(thread) - thread->unsampled);
    subtract(&due, thread->unsampled);
    sum_add(&group->due, due);
}

/* Once all threads have their rule, collect what belongs to the groups. The
 * ages of CPU time outside of running samples are not known. So each age has
 * less by the same factor. */
static void
gather_groups(struct weigh *weigh, uint32_t count)
{
    const struct spool_load *load = weigh->load;
    join_groups(weigh);
    for (uint32_t i = 0; i < count; i++)
        if (weigh->entries[i].rule == IN_GROUP)
            add_to_group(weigh, &load->profile->threads[load->first_thread + i],
                         &weigh->entries[i]);
    for (size_t i = 0; i < load->unsampled_count; i++) {
        const struct weigh_unsampled *unsampled = &load->unsampled[i];
        if (entry_of(weigh, unsampled->thread)->rule != IN_GROUP)
            continue;
        struct group *group = group_of(weigh, bounded(weigh, unsampled->epoch));
        short_threads_add_mass(&group->threads, unsampled->age, unsampled->cpu);
        sum_add(&group->due, unsampled->cpu);
    }
    for (size_t i = 0; i < load->note_count; i++)
        if (is_in_group(weigh, &load->notes[i]))
            short_threads_add_note(
                &group_of_note(weigh, &load->notes[i])->threads,
                load->notes[i].age);
    for (uint32_t i = 0; i < weigh->epochs; i++)
        short_threads_finish(&weigh->groups[i].threads, weigh->groups[i].due);
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
    double factor = old > 0 ? (double)cpu / (double)old : 0;
    sample->squares *= factor * factor;
    sample->values[VALUE_CPU] = cpu;
}

/* Give each running sample its share of its thread's time. Samples of a group
 * become 0, and share_group adds their shares. */
static void
share_own(struct weigh *weigh)
{
    struct profile *profile = weigh->load->profile;
    uint32_t i = weigh->load->first_sample;
    for (; i < profile->sample_count; i++) {
        struct profile_sample *sample = &profile->samples[i];
        struct entry *entry = entry_of(weigh, sample->thread);
        struct part *parts = parts_of(weigh, sample->thread);
        const uint64_t *values = sample->values;
        if (!is_weighed(sample) || entry->rule == AS_RECORDED)
            continue;
        struct part *part =
            &parts[parts[bounded(weigh, sample->epoch)].shared_in];
        if (entry->rule == IN_GROUP)
            set_cpu(sample, 0);
        else if (entry->rule == BY_COUNT)
            set_cpu(sample, share_take(&entry->share, values[VALUE_SAMPLES]));
        else
            set_cpu(sample, share_take(&part->share, values[VALUE_CPU]));
    }
}

/* Give each sample of a group a share for each of its notes. */
static void
share_group(struct weigh *weigh)
{
    const struct spool_load *load = weigh->load;
    for (size_t i = 0; i < load->note_count; i++) {
        const struct weigh_note *note = &load->notes[i];
        struct profile_sample *sample = &load->profile->samples[note->sample];
        if (!is_in_group(weigh, note))
            continue;
        set_cpu(sample,
                sample->values[VALUE_CPU] +
                    short_threads_share(&group_of_note(weigh, note)->threads,
                                        note->age));
    }
}

/* The CPU time of a thread that no sample can share. */
static uint64_t
left_of(const struct weigh *weigh, const struct entry *entry)
{
    uint64_t weight =
        entry->rule == BY_COUNT ? entry->share.weight : entry->weight;
    if (entry->rule == IN_GROUP)
        weight = group_of(weigh, entry->group)->notes;
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

static void
choose_rules(struct weigh *weigh, uint32_t count)
{
    const struct spool_load *load = weigh->load;
    for (uint32_t i = 0; i < count; i++) {
        const struct profile_thread *thread =
            &load->profile->threads[load->first_thread + i];
        struct entry *entry = &weigh->entries[i];
        struct part *parts = parts_of(weigh, load->first_thread + i);
        choose_rule(weigh, thread, entry, parts);
        if (entry->rule != BY_CPU)
            continue;
        divide_time(weigh, thread, parts, entry->idle);
        join_parts(weigh, parts);
    }
}

static void
release(struct weigh *weigh)
{
    free(weigh->entries);
    free(weigh->parts);
    free(weigh->groups);
}

int
weigh_samples(struct spool_load *load)
{
    uint32_t count = load->profile->thread_count - load->first_thread;
    struct weigh weigh = {.load = load, .epochs = epochs_count(load)};
    int status = 0;
    if (weigh.epochs > PARTS_MOST / ((size_t)count + 1))
        weigh.epochs = PARTS_MOST / (count + 1) + 1;
    weigh.entries = calloc((size_t)count + 1, sizeof(*weigh.entries));
    weigh.parts =
        calloc(((size_t)count + 1) * weigh.epochs, sizeof(*weigh.parts));
    weigh.groups = calloc(weigh.epochs, sizeof(*weigh.groups));
    if (weigh.entries == NULL || weigh.parts == NULL || weigh.groups == NULL) {
        release(&weigh);
        return -1;
    }
    take_live_clocks(load);
    sum_threads(&weigh);
    place_clocks(&weigh);
    choose_rules(&weigh, count);
    gather_groups(&weigh, count);
    share_own(&weigh);
    share_group(&weigh);
    for (uint32_t i = 0; i < count && status == 0; i++) {
        uint64_t left = left_of(&weigh, &weigh.entries[i]);
        if (left > 0)
            status = add_unsampled(&weigh, load->first_thread + i, left);
    }
    release(&weigh);
    return status;
}
