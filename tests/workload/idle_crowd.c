/* SPDX-License-Identifier: MIT */
/*
 * idle_crowd.c -- threads that wait for good, and a main thread that computes
 * and ends the process by _exit. No signal can be queued with its data
 * (RLIMIT_SIGPENDING), so that a question to a thread comes without its cookie.
 *
 * Arguments: threads, 2000; milliseconds, 500.
 */
#include <pthread.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "work.h"

#define STACK 65536u

static volatile uint64_t sink;

static void *
wait_for_good(void *argument)
{
    for (;;)
        pause();
    return argument;
}

int
main(int argc, char **argv)
{
    const struct rlimit none = {0, 0};
    unsigned threads = work_argument(argc, argv, 1, 2000);
    unsigned budget = work_argument(argc, argv, 2, 500);
    pthread_attr_t attributes;
    pthread_t thread;

    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK);
    if (setrlimit(RLIMIT_SIGPENDING, &none) != 0)
        work_fail("setrlimit");
    for (unsigned i = 0; i < threads; i++)
        if (pthread_create(&thread, &attributes, wait_for_good, NULL) != 0)
            work_fail("pthread_create");
    sink += work_burn(budget);
    puts("ok");
    fflush(stdout);
    _exit(0);
}
