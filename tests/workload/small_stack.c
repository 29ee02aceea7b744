/* SPDX-License-Identifier: MIT */
/*
 * small_stack.c -- threads on the smallest stack that the system grants. The
 * kernel's signal frame is a quarter of it; whatever the profiler's handler
 * adds comes on top. Each thread fills what it may use with a pattern and
 * checks it afterwards.
 *
 * Arguments: threads, 4; milliseconds of CPU time each, 500.
 */
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "work.h"

static unsigned budget;

FRAME static void
on_small_stack(void)
{
    volatile unsigned char room[1024];
    uint64_t mix;

    for (unsigned i = 0; i < sizeof room; i++)
        room[i] = (unsigned char)(i * 7);
    mix = work_burn(budget);
    for (unsigned i = 0; i < sizeof room; i++)
        if (room[i] != (unsigned char)(i * 7))
            work_fail("the stack was overwritten");
    if (mix == 0)
        work_fail("impossible");
}

static void *
thread_main(void *argument)
{
    (void)argument;
    on_small_stack();
    KEEP_FRAME();
    return NULL;
}

int
main(int argc, char **argv)
{
    unsigned count = work_argument(argc, argv, 1, 4);
    pthread_t *threads = calloc(count, sizeof *threads);
    pthread_attr_t attributes;

    budget = work_argument(argc, argv, 2, 500);
    pthread_attr_init(&attributes);
    if (threads == NULL ||
        pthread_attr_setstacksize(&attributes,
                                  (size_t)sysconf(_SC_THREAD_STACK_MIN)) != 0)
        work_fail("no stack of the minimal size");
    work_expect("thread_main;on_small_stack;work_burn");
    for (unsigned i = 0; i < count; i++)
        if (pthread_create(&threads[i], &attributes, thread_main, NULL) != 0)
            work_fail("pthread_create");
    for (unsigned i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    free(threads);
    puts("ok");
    return 0;
}
