/* SPDX-License-Identifier: MIT */
/*
 * thread_exit_last.c -- main leaves by pthread_exit, the others return, and
 * the process ends with status 0 when the last of them is gone. A profiler's
 * own thread must not keep it alive.
 *
 * Arguments: milliseconds of CPU time in the last thread, 500; how main leaves:
 * pthread_exit, or thrd_exit, or cancel.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <threads.h>
#include <unistd.h>

#include "work.h"

static unsigned budget;
static volatile uint64_t sink;

FRAME static void
last_work(void)
{
    sink += work_burn(budget);
    KEEP_FRAME();
}

static pthread_t main_thread;
static const char *way;

static void *
last(void *argument)
{
    if (strcmp(way, "cancel") == 0)
        pthread_cancel(main_thread);
    last_work();
    puts("ok");
    return argument;
}

int
main(int argc, char **argv)
{
    pthread_t thread;

    budget = work_argument(argc, argv, 1, 500);
    way = argc > 2 ? argv[2] : "pthread_exit";
    main_thread = pthread_self();
    work_expect("last;last_work;work_burn");
    if (pthread_create(&thread, NULL, last, NULL) != 0)
        work_fail("pthread_create");
    pthread_detach(thread);
    if (strcmp(way, "thrd_exit") == 0)
        thrd_exit(0);
    while (strcmp(way, "cancel") == 0)
        pause();
    pthread_exit(NULL);
}
