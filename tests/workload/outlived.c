/* SPDX-License-Identifier: MIT */
/*
 * outlived.c -- threads that must not run on for long when exit(3) has freed
 * what they need. They wait for a lock's condition, 5 ms at a time, as threads
 * of CPython wait for the interpreter's lock. The process ends at once after
 * its last handler of exit(3). A thread that has waited four times since then
 * finds that, and aborts.
 *
 * Argument: milliseconds of CPU time of each thread before the end, 200.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "work.h"

enum { THREADS = 4, WAIT_NS = 5000000, MOST = 4 };

static _Atomic bool is_over;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;

static void
wait_a_little(void)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += WAIT_NS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&mutex);
    pthread_cond_timedwait(&never, &mutex, &until);
    pthread_mutex_unlock(&mutex);
}

static void *
go_on(void *unused)
{
    for (int seen = 0; seen < MOST; seen += atomic_load(&is_over)) {
        work_burn(1);
        wait_a_little();
    }
    abort();
    return unused;
}

static void
free_all(void)
{
    atomic_store(&is_over, true);
}

int
main(int argc, char **argv)
{
    unsigned ms = work_argument(argc, argv, 1, 200);
    pthread_t threads[THREADS];

    atexit(free_all);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, go_on, NULL);
    work_burn(ms);
    puts("ok");
    return 0;
}
