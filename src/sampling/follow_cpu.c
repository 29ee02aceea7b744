/* SPDX-License-Identifier: MIT */
/*
 * follow_cpu.c -- see follow_cpu.h. A move to another CPU costs a few
 * microseconds. So the sampler seldom changes the thread that it follows.
 */
#include <sched.h>
#include <sys/syscall.h>

#include "base/arch.h"
#include "base/state.h"
#include "follow_cpu.h"

/* TURN limits the time for which the sampler follows one thread, in ticks. */
#define TURN 64

/* NO_THREAD is the index of no thread. */
#define NO_THREAD UINT32_MAX

static OF_PROFILE cpu_set_t allowed; /* CPUs on which the sampler may run */
static OF_PROFILE bool is_known;
static OF_PROFILE uint32_t followed;
static OF_PROFILE int followed_cpu, present_cpu; /* -1: any allowed CPU */
static OF_PROFILE uint32_t candidates, ticks;
static OF_PROFILE uint32_t candidate;
static OF_PROFILE uint64_t last_random;

void
follow_cpu_begin(void)
{
    is_known = sched_getaffinity(0, sizeof(allowed), &allowed) == 0 &&
               CPU_COUNT(&allowed) > 1;
    followed = NO_THREAD;
    followed_cpu = present_cpu = -1;
}

void
follow_cpu_seen(uint32_t index, int cpu, bool is_busy)
{
    if (index == followed)
        followed_cpu = is_busy ? cpu : -1;
    if (!is_busy)
        return;
    /* Each busy thread is equally likely to be followed next. */
    candidates++;
    if (last_random % candidates == 0)
        candidate = index;
    last_random = last_random * 6364136223846793005u + 1442695040888963407u;
}

static void
move_to(int cpu)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    if (cpu >= 0 && cpu < CPU_SETSIZE && CPU_ISSET((size_t)cpu, &allowed))
        CPU_SET((size_t)cpu, &one);
    else
        one = allowed;
    arch_syscall(SYS_sched_setaffinity, 0, sizeof(one), (long)&one, 0, 0, 0);
    present_cpu = cpu;
}

void
follow_cpu_move(uint64_t random)
{
    last_random = random >> 16;
    if (!is_known)
        return;
    if (followed_cpu != present_cpu)
        move_to(followed_cpu);
    if (++ticks % TURN == 0 || followed_cpu < 0)
        followed = candidates != 0 ? candidate : NO_THREAD;
    if (followed == NO_THREAD)
        followed_cpu = -1;
    candidates = 0;
}
