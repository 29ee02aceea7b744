/* SPDX-License-Identifier: MIT */
/*
 * two_phases.c -- does one thing at first, and another thing after it. Each
 * phase ends by the CPU clock of its thread, so that their shares are known. A
 * thread begins with the second phase and does the same as the main thread.
 *
 *   two_phases FIRST SECOND     ms of CPU time of each phase
 *
 * Prints "ok".
 */
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#include "work.h"

static volatile uint64_t sink;
static unsigned second_ms;

static uint64_t
cpu_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/* One loop each, so that the time is their own. */
FRAME static void
first(unsigned ms)
{
    uint64_t end = cpu_us() + ms * 1000ull, x = ms;

    while (cpu_us() < end)
        for (unsigned i = 0; i < 20000; i++)
            x = x * 6364136223846793005u + i;
    sink += x;
    KEEP_FRAME();
}

FRAME static void
second(unsigned ms)
{
    uint64_t end = cpu_us() + ms * 1000ull, x = ms;

    while (cpu_us() < end)
        for (unsigned i = 0; i < 20000; i++)
            x = x * 1442695040888963407u + i;
    sink += x;
    KEEP_FRAME();
}

FRAME static void *
beside(void *argument)
{
    second(second_ms);
    KEEP_FRAME();
    return argument;
}

int
main(int argc, char **argv)
{
    unsigned first_ms = work_argument(argc, argv, 1, 100);
    pthread_t thread;

    second_ms = work_argument(argc, argv, 2, 1000);
    first(first_ms);
    if (pthread_create(&thread, NULL, beside, NULL) != 0)
        work_fail("pthread_create");
    second(second_ms);
    pthread_join(thread, NULL);
    puts("ok");
    return 0;
}
