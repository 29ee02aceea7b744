/* SPDX-License-Identifier: MIT */
/*
 * stuck_loop.c -- a loop that waits for events, and that is stuck once in a
 * while. After 600 ms of the loop, the work is one of these:
 *
 *   loop   the loop goes on
 *   burn   the main thread computes in stuck_here
 *   lock   it waits for a mutex that is not given back for that time
 *   span   it waits in poll for 300 ms, in a span with the name "request"
 *
 * The work takes 1 s, and the loop goes on for 600 ms after it. Prints ok.
 *
 * Usage: stuck_loop WORK
 */
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "sprof.h"

#include "work.h"

enum { LOOP_MS = 600, WORK_MS = 1000, SPAN_MS = 300 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void
run_loop(unsigned ms)
{
    for (unsigned i = 0; i < ms / 10; i++)
        poll(NULL, 0, 10);
}

FRAME static uint64_t
stuck_here(void)
{
    struct timespec now, begin;
    uint64_t sum = 0;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do {
        sum += work_burn(5);
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - begin.tv_sec) * 1000 +
                 (now.tv_nsec - begin.tv_nsec) / 1000000 <
             WORK_MS);
    KEEP_FRAME();
    return sum;
}

static void *
hold_mutex(void *barrier)
{
    pthread_mutex_lock(&mutex);
    pthread_barrier_wait(barrier);
    work_sleep(WORK_MS);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

static void
wait_for_mutex(void)
{
    pthread_barrier_t barrier;
    pthread_t thread;
    pthread_barrier_init(&barrier, NULL, 2);
    if (pthread_create(&thread, NULL, hold_mutex, &barrier) != 0)
        work_fail("pthread_create");
    pthread_barrier_wait(&barrier);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, NULL);
}

static void
take_span(unsigned ms)
{
    int64_t span = sprof_span_begin();
    poll(NULL, 0, (int)ms);
    sprof_span_end(span, "request");
}

int
main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "loop";
    run_loop(LOOP_MS);
    if (strcmp(what, "burn") == 0)
        (void)stuck_here();
    else if (strcmp(what, "lock") == 0)
        wait_for_mutex();
    else if (strcmp(what, "span") == 0)
        take_span(SPAN_MS);
    else
        run_loop(WORK_MS);
    run_loop(LOOP_MS);
    puts("ok");
    return 0;
}
