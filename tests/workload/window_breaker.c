/* SPDX-License-Identifier: MIT */
/*
 * window_breaker.c -- does on purpose what libsprof must never do: allocates,
 * locks and opens a file inside a handler that blocks all signals, and on a
 * thread that calls itself as the sampler does. Shows that window_guard.c sees
 * it; needs that library preloaded, alone.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "work.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int refused;

/* Volatile, or the compiler would leave out an unused malloc. */
static void *(*volatile allocate)(size_t) = malloc;

static void
break_rules(void)
{
    if (allocate(100) == NULL)
        refused++;
    if (pthread_mutex_lock(&lock) == EBUSY)
        refused++;
    if (fopen("/dev/null", "r") == NULL)
        refused++;
}

static void
on_signal(int number)
{
    (void)number;
    break_rules();
}

static void *
false_sampler(void *argument)
{
    sigset_t all;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    prctl(PR_SET_NAME, "sprof");
    break_rules();
    return argument;
}

int
main(void)
{
    struct sigaction action;
    pthread_t thread;

    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    /* Not sigfillset, which leaves two out. */
    memset(&action.sa_mask, 0xff, sizeof action.sa_mask);
    if (sigaction(SIGUSR1, &action, NULL) != 0)
        work_fail("sigaction");
    raise(SIGUSR1);
    if (pthread_create(&thread, NULL, false_sampler, NULL) != 0)
        work_fail("pthread_create");
    pthread_join(thread, NULL);
    if (refused != 6)
        work_fail("the guard let something pass");
    if (allocate(100) == NULL || pthread_mutex_lock(&lock) != 0)
        work_fail("the guard refuses what is allowed");
    puts("ok");
    return 0;
}
