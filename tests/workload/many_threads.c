/* SPDX-License-Identifier: MIT */
/*
 * many_threads.c -- many named threads that all compute, each through its own
 * function, so that a stack given to the wrong thread shows.
 *
 * Arguments: threads, 20; milliseconds of CPU time each, 100.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "work.h"

static volatile uint64_t sink;
static unsigned budget;

FRAME static void
even_work(void)
{
    sink += work_burn(budget);
    KEEP_FRAME();
}

FRAME static void
odd_work(void)
{
    sink += work_burn(budget);
    KEEP_FRAME();
}

static void *
worker(void *argument)
{
    unsigned index = (unsigned)(uintptr_t)argument;
    char name[16];

    snprintf(name, sizeof name, "worker-%u", index);
    pthread_setname_np(pthread_self(), name);
    if (index % 2 == 0)
        even_work();
    else
        odd_work();
    KEEP_FRAME();
    return NULL;
}

int
main(int argc, char **argv)
{
    unsigned count = work_argument(argc, argv, 1, 20);
    pthread_t *threads = calloc(count, sizeof *threads);

    budget = work_argument(argc, argv, 2, 100);
    work_expect("worker;(even|odd)_work;work_burn");
    if (threads == NULL)
        work_fail("calloc");
    for (uintptr_t i = 0; i < count; i++)
        if (pthread_create(&threads[i], NULL, worker, (void *)i) != 0)
            work_fail("pthread_create");
    for (unsigned i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    free(threads);
    puts("ok");
    return 0;
}
