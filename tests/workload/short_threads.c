/* SPDX-License-Identifier: MIT */
/*
 * short_threads.c -- threads that live for some 50 microseconds, two at a time,
 * for as long as asked. Most are gone before a question reaches them; thread
 * ids are soon used again.
 *
 * Arguments: milliseconds of wall time, 1000; milliseconds of CPU time of each
 * thread, 0: some 50 microseconds.
 */
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#include "work.h"

static unsigned life; /* ms of CPU time */

static uint64_t
wall_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void *
short_life(void *argument)
{
    unsigned *count = argument;

    if (life != 0)
        work_burn(life);
    for (volatile unsigned i = 0; i < 20000; i++)
        continue;
    (*count)++;
    return NULL;
}

int
main(int argc, char **argv)
{
    uint64_t until = wall_ms() + work_argument(argc, argv, 1, 1000);
    life = work_argument(argc, argv, 2, 0);
    unsigned lived = 0, started = 0;

    while (wall_ms() < until) {
        pthread_t threads[2];
        unsigned counts[2] = {0, 0};

        for (unsigned i = 0; i < 2; i++)
            if (pthread_create(&threads[i], NULL, short_life, &counts[i]) != 0)
                work_fail("pthread_create");
        for (unsigned i = 0; i < 2; i++)
            pthread_join(threads[i], NULL);
        started += 2;
        lived += counts[0] + counts[1];
    }
    if (lived != started)
        work_fail("a thread did not do its work");
    puts("ok");
    return 0;
}
