/* SPDX-License-Identifier: MIT */
/*
 * queued_waits.c -- a thread that waits shortly, and stands in line for long.
 * The process has one CPU, where another thread computes. The main thread
 * sleeps for 50 us, 20 times, in nap(). Then it polls for 20 ms in rest().
 * After each wait it is in line for its CPU. It prints how long it was in each:
 * "nap NS" and "rest NS".
 *
 * Usage: queued_waits MS
 */
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "work.h"

static atomic_bool is_over;

static void *
compute(void *argument)
{
    volatile uint64_t x = 1;

    while (!atomic_load(&is_over))
        for (unsigned i = 0; i < 10000; i++)
            x = x * 6364136223846793005u + i;
    return argument;
}

FRAME static void
nap(void)
{
    for (unsigned i = 0; i < 20; i++)
        usleep(50);
    KEEP_FRAME();
}

FRAME static void
rest(void)
{
    poll(NULL, 0, 20);
    KEEP_FRAME();
}

int
main(int argc, char **argv)
{
    uint64_t end =
        work_now_ns() + work_argument(argc, argv, 1, 2000) * 1000000ull;
    uint64_t napped = 0, rested = 0;
    pthread_t busy;
    cpu_set_t one;

    CPU_ZERO(&one);
    CPU_SET((unsigned)sched_getcpu(), &one);
    if (sched_setaffinity(0, sizeof(one), &one) != 0 ||
        pthread_create(&busy, NULL, compute, NULL) != 0)
        work_fail("one CPU");
    while (work_now_ns() < end) {
        uint64_t begin = work_now_ns();
        nap();
        uint64_t middle = work_now_ns();
        rest();
        napped += middle - begin;
        rested += work_now_ns() - middle;
    }
    atomic_store(&is_over, true);
    pthread_join(busy, NULL);
    printf("nap %llu\nrest %llu\n", (unsigned long long)napped,
           (unsigned long long)rested);
    return 0;
}
