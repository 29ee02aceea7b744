/* SPDX-License-Identifier: MIT */
/*
 * switch_rate.c -- see switch_rate.h. The answer must not change back and forth
 * with every short burst. It becomes yes when MOST is exceeded twice in a row.
 * It becomes no after a calm time, which doubles whenever a no was too early.
 */
#include <sys/resource.h>

#include "base/clock.h"
#include "base/state.h"
#include "process/threads.h"
#include "switch_rate.h"

/* Limits of waits in a second, for each CPU that the process uses (at least
 * one). More than MOST are many: with 5 us for each of a wait's two switches,
 * that costs about 2 %. Fewer than FEW are calm. */
#define MOST 4000
#define FEW 1000

/* Time of calm in ns after which switches count as few again: the first one,
 * and the longest. */
#define CALM_NS (1ull * NS_PER_SECOND)
#define LONGEST_CALM_NS (64ull * NS_PER_SECOND)

/* Least ns between two looks: LOOK_NS, and LOOK_NS_A_THREAD for each thread,
 * because each look asks the kernel to add up the threads. */
#define LOOK_NS 32000000u
#define LOOK_NS_A_THREAD 100000u

static OF_PROFILE uint64_t last_look, last_cpu, last_switches;
static OF_PROFILE uint64_t calm_since, calm_needed;
static OF_PROFILE bool was_much, are_many;

/* Returns how often threads other than this one began to wait. A thread that
 * loses its CPU to another program, or to this thread, is not counted: it did
 * not wait. */
static uint64_t
count_switches(void)
{
    struct rusage all, own;
    if (getrusage(RUSAGE_SELF, &all) != 0 ||
        getrusage(RUSAGE_THREAD, &own) != 0)
        return last_switches;
    return (uint64_t)(all.ru_nvcsw - own.ru_nvcsw);
}

void
switch_rate_begin(void)
{
    last_look = clock_now();
    last_cpu = clock_process();
    last_switches = count_switches();
    calm_needed = CALM_NS;
    was_much = are_many = false;
}

/* Whether SWITCHES is over LIMIT for the CPUs that were used in WALL ns. */
static bool
is_over(uint64_t switches, uint64_t limit, uint64_t wall, uint64_t cpu)
{
    uint64_t used = cpu > wall ? cpu : wall;
    return switches > limit * used / NS_PER_SECOND;
}

static void
update_answer(uint64_t now, bool is_much, bool is_calm)
{
    if (!are_many) {
        are_many = is_much && was_much;
        calm_since = now;
    } else if (!is_calm) {
        calm_since = now;
    } else if (now - calm_since >= calm_needed) {
        are_many = false;
        if (calm_needed < LONGEST_CALM_NS)
            calm_needed *= 2;
    }
    was_much = is_much;
}

bool
switch_rate_are_many(uint64_t now)
{
    uint64_t wall = now - last_look;
    if (wall < LOOK_NS + (uint64_t)threads_count() * LOOK_NS_A_THREAD)
        return are_many;
    uint64_t cpu = clock_process(), switches = count_switches();
    update_answer(now,
                  is_over(switches - last_switches, MOST, wall, cpu - last_cpu),
                  !is_over(switches - last_switches, FEW, wall,
                           cpu - last_cpu));
    last_look = now;
    last_cpu = cpu;
    last_switches = switches;
    return are_many;
}
