/* SPDX-License-Identifier: MIT */
/*
 * outlived.c -- threads that must not run on for long when exit(3) has freed
 * what they need. They wait for a lock's condition, 5 ms at a time, as threads
 * of CPython wait for the interpreter's lock. The process ends at once after
 * its last handler of exit(3). A thread that finds the main thread asleep after
 * four waits since then aborts. (A main thread without a CPU is not asleep.)
 *
 * Argument: milliseconds of CPU time of each thread before the end, 200.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

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

static bool
main_is_asleep(void)
{
    char path[64], line[512];
    const char *end = NULL;
    FILE *file;

    snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)getpid());
    file = fopen(path, "r");
    if (file != NULL && fgets(line, sizeof line, file) != NULL)
        end = strrchr(line, ')');
    if (file != NULL)
        fclose(file);
    return end != NULL && end[2] == 'S';
}

static void *
go_on(void *unused)
{
    for (int seen = 0; seen < MOST;
         seen += atomic_load(&is_over) && main_is_asleep()) {
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
