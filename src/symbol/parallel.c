/* SPDX-License-Identifier: MIT */
/* parallel.c -- see parallel.h. */
#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include "parallel.h"

#define MOST_THREADS 4

size_t
parallel_size(size_t most)
{
    size_t count = 1;
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof(set), &set) == 0)
        count = (size_t)CPU_COUNT(&set);
    if (count > MOST_THREADS)
        count = MOST_THREADS;
    return count < most ? count : most;
}

void
parallel_run(void *(*work)(void *), void *argument, size_t most)
{
    size_t wanted = parallel_size(most), count = 0;
    sigset_t all;
    sigfillset(&all);
    sigset_t before;
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t threads[MOST_THREADS];
    while (count + 1 < wanted &&
           pthread_create(&threads[count], NULL, work, argument) == 0)
        count++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    work(argument);
    while (count > 0)
        pthread_join(threads[--count], NULL);
}
