/* SPDX-License-Identifier: MIT */
/*
 * idle.c -- see idle.h. A place that has most of a thread's time is found in
 * one pass and without a table: a sample of another place takes away from the
 * lead of the place that was ahead (Boyer and Moore's vote, with weights). A
 * second pass measures that place.
 */
#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/number.h"
#include "sample_state.h"
#include "system_call.h"
#include "wait_text.h"
#include "idle.h"

/* A thread is idle that used less than one part in CPU_PARTS of its time of a
 * CPU, and was not at its place for one part in AWAY_PARTS at most. */
enum { CPU_PARTS = 100, AWAY_PARTS = 20 };

/* Calls that wait until another thread, process or host does something, or
 * until a time. Calls that wait for a disk are not here. */
static const char *const calls[] = {
    "accept",          "accept4",       "clock_nanosleep",
    "epoll_pwait",     "epoll_pwait2",  "epoll_wait",
    "futex",           "futex_wait",    "futex_waitv",
    "io_getevents",    "io_pgetevents", "io_uring_enter",
    "mq_timedreceive", "msgrcv",        "nanosleep",
    "pause",           "poll",          "ppoll",
    "pselect6",        "read",          "readv",
    "recvfrom",        "recvmmsg",      "recvmsg",
    "restart_syscall", "rt_sigsuspend", "rt_sigtimedwait",
    "select",          "semop",         "semtimedop",
    "wait4",           "waitid",
};

/* Numbers that calls have: less than this. */
enum { NUMBERS = 1024 };

/* What is known of a thread. PLACE is a sample at the place that is ahead. */
struct candidate {
    uint32_t place;
    uint64_t lead, here, cpu, wall; /* ns */
};

struct search {
    struct profile *profile;
    struct candidate *candidates; /* by thread */
    uint32_t machine;             /* of AWAITS; 0: none yet */
    bool awaits[NUMBERS];         /* by number: whether it is one of CALLS */
};

/* Whether call NUMBER of MACHINE is one of CALLS. Processes of several machines
 * are rare. */
static bool
awaits_others(struct search *search, uint32_t machine, unsigned number)
{
    if (search->machine != machine) {
        memset(search->awaits, 0, sizeof(search->awaits));
        for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
            unsigned known = system_call_number(machine, calls[i]);
            if (known < NUMBERS)
                search->awaits[known] = true;
        }
        search->machine = machine;
    }
    return number < NUMBERS && search->awaits[number];
}

/* Whether SAMPLE waits for what others do. A mutex whose owner is known is what
 * a user looks for. So is a file of a disk: its name is a path. */
static bool
is_candidate(struct search *search, const struct profile_sample *sample)
{
    const struct profile *profile = search->profile;
    uint32_t process = profile->threads[sample->thread].process;
    bool is_owned = strncmp(sample->waits_on, "mutex of ", 9) == 0 &&
                    wait_text_holder(sample->waits_on) != 0;
    return sample->state == STATE_WAITING && sample->waits_on[0] != '/' &&
           !is_owned &&
           awaits_others(search, profile->processes[process].machine,
                         sample->system_call) &&
           sample_state_gpu(search->profile, sample) == NULL;
}

static bool
is_same_place(const struct profile_sample *one,
              const struct profile_sample *two)
{
    return one->node == two->node && one->system_call == two->system_call;
}

static void
vote(struct candidate *candidate, const struct profile *profile,
     uint32_t sample, uint64_t wall)
{
    if (candidate->lead == 0)
        candidate->place = sample;
    if (is_same_place(&profile->samples[candidate->place],
                      &profile->samples[sample])) {
        sum_add(&candidate->lead, wall);
    } else if (candidate->lead >= wall) {
        candidate->lead -= wall;
    } else {
        candidate->place = sample;
        candidate->lead = wall - candidate->lead;
    }
}

static void
find_places(struct search *search, idle_time_of *time_of, const void *context)
{
    const struct profile *profile = search->profile;
    for (uint32_t i = 0; i < profile->sample_count; i++) {
        const struct profile_sample *sample = &profile->samples[i];
        struct candidate *candidate = &search->candidates[sample->thread];
        struct idle_time time = time_of(context, i);
        sum_add(&candidate->cpu, time.cpu);
        sum_add(&candidate->wall, time.wall);
        if (time.wall > 0 && is_candidate(search, sample))
            vote(candidate, profile, i, time.wall);
    }
    for (uint32_t i = 0; i < profile->sample_count; i++) {
        const struct profile_sample *sample = &profile->samples[i];
        struct candidate *candidate = &search->candidates[sample->thread];
        if (candidate->lead > 0 &&
            is_same_place(&profile->samples[candidate->place], sample) &&
            is_candidate(search, sample))
            sum_add(&candidate->here, time_of(context, i).wall);
    }
}

static bool
is_idle(const struct candidate *candidate)
{
    uint64_t wall = candidate->wall;
    return wall > 0 && candidate->cpu < wall / CPU_PARTS &&
           candidate->here >= wall - wall / AWAY_PARTS;
}

/* Without a thread that did something, the waits are all that there is. */
static int
spare_idle_processes(const struct profile *profile,
                     const struct candidate *candidates, bool *are_idle)
{
    bool *has_other;
    if (!ARRAY_NEW(has_other, profile->process_count))
        return -1;
    for (uint32_t i = 0; i < profile->thread_count; i++)
        if (candidates[i].wall > 0 && !are_idle[i])
            has_other[profile->threads[i].process] = true;
    for (uint32_t i = 0; i < profile->thread_count; i++)
        are_idle[i] &= has_other[profile->threads[i].process];
    free(has_other);
    return 0;
}

bool *
idle_threads(struct profile *profile, idle_time_of *time_of,
             const void *context)
{
    struct search search = {.profile = profile};
    bool *are_idle = NULL;
    if (ARRAY_NEW(search.candidates, profile->thread_count) &&
        ARRAY_NEW(are_idle, profile->thread_count)) {
        find_places(&search, time_of, context);
        for (uint32_t i = 0; i < profile->thread_count; i++)
            are_idle[i] = is_idle(&search.candidates[i]);
        if (spare_idle_processes(profile, search.candidates, are_idle) != 0) {
            free(are_idle);
            are_idle = NULL;
        }
    }
    free(search.candidates);
    return are_idle;
}

/* An idle_time_of: all of the sample. */
static struct idle_time
whole_time(const void *context, uint32_t sample)
{
    const struct profile *profile = context;
    const uint64_t *values = profile->samples[sample].values;
    return (struct idle_time){values[VALUE_CPU], values[VALUE_WALL]};
}

int
idle_find(struct profile *profile)
{
    bool *are_idle = idle_threads(profile, whole_time, profile);
    if (are_idle == NULL)
        return -1;
    for (uint32_t i = 0; i < profile->thread_count; i++)
        profile->threads[i].is_idle = are_idle[i];
    profile->knows_idle = true;
    free(are_idle);
    return 0;
}

uint32_t
idle_sum(const struct profile *profile, uint64_t sums[VALUE_COUNT])
{
    uint32_t count = 0;
    memset(sums, 0, VALUE_COUNT * sizeof(*sums));
    for (uint32_t i = 0; i < profile->thread_count; i++) {
        const struct profile_thread *thread = &profile->threads[i];
        count += thread->is_idle;
        for (unsigned j = 0; j < VALUE_COUNT && thread->is_idle; j++)
            sum_add(&sums[j], thread->values[j]);
    }
    return count;
}

const char *
idle_name(uint32_t count, char text[IDLE_NAME_SIZE])
{
    snprintf(text, IDLE_NAME_SIZE, "[%u idle thread%s; --idle shows %s]", count,
             number_plural(count), count == 1 ? "it" : "them");
    return text;
}

/* The node has its name at once: it is no place in code. */
int
idle_fold(struct profile *profile)
{
    uint64_t sums[VALUE_COUNT];
    uint32_t count = idle_sum(profile, sums);
    char text[IDLE_NAME_SIZE];
    if (count == 0)
        return 0;
    const char *name = profile_string(profile, idle_name(count, text));
    struct symbol_frame *frame = profile_block(profile, sizeof(*frame));
    struct symbol *symbol = profile_block(profile, sizeof(*symbol));
    if (name == NULL || frame == NULL || symbol == NULL ||
        !ARRAY_GROW(profile->nodes, profile->node_count))
        return -1;
    *frame = (struct symbol_frame){name, name, "", 0, 0};
    *symbol = (struct symbol){.count = 1, .named = true, .frames = frame};
    profile->nodes[profile->node_count] =
        (struct profile_node){.flags = NODE_TRUNCATED, .symbol = symbol};
    profile->idle_node = profile->node_count++;
    for (uint32_t i = 0; i < profile->sample_count; i++) {
        struct profile_sample *sample = &profile->samples[i];
        if (profile->threads[sample->thread].is_idle &&
            sample->state != STATE_RUNNING)
            sample->node = profile->idle_node;
    }
    return 0;
}
