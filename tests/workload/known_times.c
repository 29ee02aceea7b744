/* SPDX-License-Identifier: MIT */
/*
 * known_times.c -- what happens when is known: the main thread computes in
 * before(), then in inside() with a mutex, then in behind(). Meanwhile the
 * thread "waiter" waits for that mutex, in wait_for_it(). A mark "locked", a
 * span "inside" and a mark "unlocked" say when the main thread had the mutex.
 *
 * Usage: known_times MS [INSIDE]     each of the three takes MS milliseconds,
 *                                   inside() INSIDE, of CPU time
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

#include "sprof.h"

#include "work.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile uint64_t sink;
static atomic_bool is_there; /* the waiter */

/* One loop each, so that the time of their lines is their own. */
FRAME static void
before(uint64_t ms)
{
    uint64_t x = ms;

    for (uint64_t end = work_cpu_ns() + ms * 1000000; work_cpu_ns() < end;)
        for (unsigned i = 0; i < 100000; i++)
            x = x * 6364136223846793005u + i;
    sink += x;
}

FRAME static void
inside(uint64_t ms)
{
    uint64_t x = ms;

    for (uint64_t end = work_cpu_ns() + ms * 1000000; work_cpu_ns() < end;)
        for (unsigned i = 0; i < 100000; i++)
            x = x * 1442695040888963407u + i;
    sink += x;
}

FRAME static void
behind(uint64_t ms)
{
    uint64_t x = ms;

    for (uint64_t end = work_cpu_ns() + ms * 1000000; work_cpu_ns() < end;)
        for (unsigned i = 0; i < 100000; i++)
            x = x * 2862933555777941757u + i;
    sink += x;
}

FRAME static void *
wait_for_it(void *argument)
{
    atomic_store(&is_there, true);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    KEEP_FRAME();
    return argument;
}

int
main(int argc, char **argv)
{
    unsigned ms = work_argument(argc, argv, 1, 300);
    unsigned inside_ms = work_argument(argc, argv, 2, ms);
    pthread_t waiter;

    before(ms);
    pthread_mutex_lock(&mutex);
    sprof_mark("locked");
    int64_t span = sprof_span_begin();
    if (pthread_create(&waiter, NULL, wait_for_it, NULL) != 0)
        work_fail("pthread_create");
    pthread_setname_np(waiter, "waiter");
    while (!atomic_load(&is_there))
        sched_yield();
    inside(inside_ms);
    sprof_span_end(span, "inside");
    pthread_mutex_unlock(&mutex);
    sprof_mark("unlocked");
    behind(ms);
    pthread_join(waiter, NULL);
    puts("ok");
    return 0;
}
