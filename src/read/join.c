/* SPDX-License-Identifier: MIT */
/*
 * join.c -- joins the spools of a flight recorder; see join.h. Two
 * threads are the same if they have the same id and tid. Both spools share the
 * ids. The tid is compared in case the files do not belong together. A node
 * belongs to the process that precedes it (naming.c). So a spool can be joined
 * only to the process directly before it.
 */
#include <stdlib.h>
#include <string.h>

#include "model/events.h"
#include "symbol/generated_code.h"
#include "util/intern.h"
#include "spool_load.h"
#include "join.h"

/* The identity of a thread in a process. */
struct key {
    uint32_t id, tid;
};

/* A spool that is joined to a process. NUMBERS has an entry for each thread of
 * the spool. */
struct join {
    struct spool_load *load;
    uint32_t process;  /* the process that the spool continues */
    uint32_t *numbers; /* new numbers of the spool's threads */
};

static bool
is_same(const struct profile_process *process, uint32_t pid, uint64_t monotonic)
{
    return process->keep != 0 && process->pid == pid &&
           process->monotonic == monotonic;
}

bool
join_is_there(const struct profile *profile, const struct spool_header *header)
{
    for (uint32_t i = 0; header->keep != 0 && i < profile->process_count; i++)
        if (is_same(&profile->processes[i], header->pid,
                    header->start_monotonic) &&
            profile->processes[i].last_begin >= header->begin)
            return true;
    return false;
}

static uint64_t
time_after(uint64_t time, uint64_t shift)
{
    return time > shift ? time - shift : 0;
}

/* Where the parts of a spool begin in a profile. */
struct part {
    uint32_t first_thread, first_epoch;
    size_t first_event;
};

/* Subtract SHIFT ns from the times of the threads, epochs and events of PART.
 * An earlier time becomes 0. */
static void
shift_times(struct profile *profile, struct part part, uint64_t shift)
{
    for (uint32_t i = part.first_epoch; i < profile->epoch_count; i++)
        profile->epochs[i].time = time_after(profile->epochs[i].time, shift);
    for (uint32_t i = part.first_thread; i < profile->thread_count; i++) {
        struct profile_thread *thread = &profile->threads[i];
        thread->start = time_after(thread->start, shift);
        if (thread->end != UINT64_MAX)
            thread->end = time_after(thread->end, shift);
    }
    for (size_t i = part.first_event; i < profile->event_count; i++)
        profile->events[i].time = time_after(profile->events[i].time, shift);
}

/* Add thread FROM to thread TO, which it continues. The caller sums up VALUES
 * later. */
static void
merge_thread(struct profile_thread *to, const struct profile_thread *from)
{
    to->name = from->name;
    to->end = from->end;
    to->has_cpu &= from->has_cpu;
    to->has_exact_cpu &= from->has_exact_cpu;
    sum_add(&to->cpu, from->cpu);
    if (!to->has_cpu)
        to->cpu = 0;
    sum_add(&to->unsampled, from->unsampled);
}

/* Put the threads that the process has so far into KNOWN. Entry I of the result
 * is the thread that has number I in KNOWN. Returns NULL if memory is short. */
static uint32_t *
list_threads(const struct join *join, struct intern *known)
{
    const struct profile *profile = join->load->profile;
    uint32_t *numbers = calloc(join->load->first_thread + 1u, sizeof(*numbers));
    for (uint32_t i = 0; numbers != NULL && i < join->load->first_thread; i++) {
        const struct profile_thread *thread = &profile->threads[i];
        const struct key key = {thread->id, thread->tid};
        if (thread->process != join->process)
            continue;
        uint32_t at = intern_put(known, &key, sizeof(key));
        if (at == INTERN_NONE) {
            free(numbers);
            return NULL;
        }
        numbers[at] = i;
    }
    return numbers;
}

/* Merge each thread that is in KNOWN. The other threads keep their order, and
 * move up to fill the gaps. */
static void
merge_threads(struct join *join, const struct intern *known,
              const uint32_t *numbers)
{
    struct profile *profile = join->load->profile;
    uint32_t first = join->load->first_thread, count = first;
    for (uint32_t i = first; i < profile->thread_count; i++) {
        struct profile_thread thread = profile->threads[i];
        const struct key key = {thread.id, thread.tid};
        uint32_t at = intern_find(known, &key, sizeof(key));
        thread.process = join->process;
        if (at != INTERN_NONE) {
            merge_thread(&profile->threads[numbers[at]], &thread);
            join->numbers[i - first] = numbers[at];
        } else {
            profile->threads[count] = thread;
            join->numbers[i - first] = count++;
        }
    }
    profile->thread_count = count;
}

/* Move the modules and samples of the spool to the process that it continues.
 * Remove the spool's own process. */
static void
merge_process(const struct join *join)
{
    struct spool_load *load = join->load;
    struct profile *profile = load->profile;
    struct profile_process *to = &profile->processes[join->process];
    const struct profile_process *from = &profile->processes[load->process];
    for (uint32_t i = 0; i < profile->module_count; i++)
        if (profile->modules[i].process == load->process)
            profile->modules[i].process = join->process;
    for (uint32_t i = load->first_sample; i < profile->sample_count; i++) {
        struct profile_sample *sample = &profile->samples[i];
        sample->thread = join->numbers[sample->thread - load->first_thread];
    }
    for (uint32_t i = load->first_epoch; i < profile->epoch_count; i++)
        profile->epochs[i].process = join->process;
    if (to->codes == NULL)
        to->codes = from->codes;
    else
        generated_code_free(from->codes);
    to->ended |= from->ended;
    to->has_variants |= from->has_variants;
    to->last_begin = from->last_begin;
    if (load->end < to->duration)
        load->end = to->duration;
    load->process = join->process;
    profile->process_count--;
}

static int
join_to(struct spool_load *load, uint32_t process)
{
    uint32_t count = load->profile->thread_count - load->first_thread;
    struct join join = {load, process, calloc(count + 1u, sizeof(uint32_t))};
    struct intern *known = intern_new();
    uint32_t *numbers = NULL;
    if (known != NULL && join.numbers != NULL)
        numbers = list_threads(&join, known);
    if (numbers != NULL) {
        merge_threads(&join, known, numbers);
        merge_process(&join);
    }
    free(numbers);
    free(join.numbers);
    intern_free(known);
    return numbers != NULL ? 0 : -1;
}

const struct profile_process *
join_before(const struct spool_load *load)
{
    const struct profile_process *own =
        &load->profile->processes[load->process];
    bool goes_on = own->keep != 0 && load->process > 0 &&
                   is_same(own - 1, own->pid, own->monotonic) &&
                   own[-1].last_begin < own->last_begin;
    return goes_on ? own - 1 : NULL;
}

int
join_spools(struct spool_load *load)
{
    struct profile *profile = load->profile;
    struct profile_process *own = &profile->processes[load->process];
    const struct profile_process *before = join_before(load);
    uint64_t shift = before != NULL ? before->begin : own->begin;
    if (own->keep == 0)
        return 0;
    const struct part part = {load->first_thread, load->first_epoch,
                              load->first_event};
    shift_times(profile, part, shift);
    load->end = time_after(load->end, shift);
    if (before != NULL)
        return join_to(load, load->process - 1);
    sum_add(&own->start, shift);
    return 0;
}

int
join_shorten(struct profile *profile)
{
    struct profile_process *process = profile->processes;
    if (profile->process_count != 1 || process->keep == 0 ||
        profile->duration <= process->keep)
        return 0;
    uint64_t shift = profile->duration - process->keep;
    if (events_clip(profile, shift, UINT64_MAX) != 0)
        return -1;
    shift_times(profile, (struct part){0, 0, 0}, shift);
    sum_add(&process->start, shift);
    sum_add(&process->begin, shift);
    process->duration -= shift;
    sum_add(&profile->start, shift);
    profile->duration -= shift;
    return 0;
}
