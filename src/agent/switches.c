/* SPDX-License-Identifier: MIT */
/*
 * switches.c -- see switches.h. The answer does not change back and forth with
 * every breath of the program: it becomes yes when MOST is passed twice in a
 * row, and no after a time of calm, which doubles whenever that was premature.
 */
#include <sys/resource.h>

#include "base/clock.h"
#include "target/threads.h"
#include "switches.h"

/* Waits in a second for each CPU that the process uses (at least one): 2 % of
 * it at 5 us for the two switches of each; and how many mean calm. */
#define MOST 4000
#define FEW 1000

#define CALM_NS (1ull * NS_PER_SECOND)
#define LONGEST_CALM_NS (64ull * NS_PER_SECOND)

/* ns between two looks, of which each asks the kernel to add up the threads. */
#define LOOK_NS 32000000u
#define LOOK_NS_A_THREAD 100000u

static uint64_t last_look, last_cpu, last_switches;
static uint64_t calm_since, calm_needed;
static bool was_much, are_many;

/* How often threads other than this one began to wait. When one loses its CPU
 * to another program, or to this very thread, it is not by its own doing. */
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
switches_begin(void)
{
    last_look = clock_now();
    last_cpu = clock_process();
    last_switches = count_switches();
    calm_needed = CALM_NS;
    was_much = are_many = false;
}

/* LIMIT for the CPUs that were used in WALL ns. */
static bool
is_over(uint64_t switches, uint64_t limit, uint64_t wall, uint64_t cpu)
{
    uint64_t used = cpu > wall ? cpu : wall;
    return switches > limit * used / NS_PER_SECOND;
}

static void
judge(uint64_t now, bool is_much, bool is_calm)
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
switches_are_many(uint64_t now)
{
    uint64_t wall = now - last_look;
    if (wall < LOOK_NS + (uint64_t)threads_count() * LOOK_NS_A_THREAD)
        return are_many;
    uint64_t cpu = clock_process(), switches = count_switches();
    judge(now, is_over(switches - last_switches, MOST, wall, cpu - last_cpu),
          !is_over(switches - last_switches, FEW, wall, cpu - last_cpu));
    last_look = now;
    last_cpu = cpu;
    last_switches = switches;
    return are_many;
}
