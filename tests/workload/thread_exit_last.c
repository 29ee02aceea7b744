/* SPDX-License-Identifier: MIT */
/*
 * thread_exit_last.c -- main leaves by pthread_exit, the others return, and
 * the process ends with status 0 when the last of them is gone. A profiler's
 * own thread must not keep it alive.
 *
 * Argument: milliseconds of CPU time in the last thread, 500.
 */
#include <pthread.h>
#include <stdio.h>

#include "work.h"

static unsigned budget;
static volatile uint64_t sink;

FRAME static void
last_work(void)
{
    sink += work_burn(budget);
    KEEP_FRAME();
}

static void *
last(void *argument)
{
    last_work();
    puts("ok");
    return argument;
}

int
main(int argc, char **argv)
{
    pthread_t thread;

    budget = work_argument(argc, argv, 1, 500);
    work_expect("last;last_work;work_burn");
    if (pthread_create(&thread, NULL, last, NULL) != 0)
        work_fail("pthread_create");
    pthread_detach(thread);
    pthread_exit(NULL);
}
