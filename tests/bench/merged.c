/* SPDX-License-Identifier: MIT */
/*
 * merged.c -- the native functions of merged.py's program. enter_N calls a
 * Python function, and work_N computes and allocates. A stack is whole if it
 * has outer_N, enter_N, inner_N and work_N in this order.
 *
 * work_N looks at the clock all the time. A distance of GAP_NS ns and more is a
 * pause: the thread did not run, or its profiler did.
 */
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#define GAP_NS 5000u

/* ns in pauses so far, the longest one, and their number. */
__attribute__((visibility("default"))) uint64_t pauses[3];

static uint64_t
now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void
work(long looks)
{
    void *volatile memory = malloc(1024);
    uint64_t last = now();

    for (long i = 0; i < looks; i++) {
        uint64_t time = now(), gap = time - last;

        last = time;
        if (gap < GAP_NS)
            continue;
        pauses[0] += gap;
        pauses[1] = gap > pauses[1] ? gap : pauses[1];
        pauses[2]++;
    }
    free(memory);
}

/* The work after the calls keeps them from becoming jumps. */
#define PAIR(number)                                                      \
    __attribute__((visibility("default"), noinline)) void enter_##number( \
        void (*callback)(void))                                           \
    {                                                                     \
        callback();                                                       \
        __asm__ volatile("");                                             \
    }                                                                     \
    __attribute__((visibility("default"), noinline)) void work_##number(  \
        long looks)                                                       \
    {                                                                     \
        work(looks);                                                      \
        __asm__ volatile("");                                             \
    }

PAIR(0)
PAIR(1)
PAIR(2)
PAIR(3)
