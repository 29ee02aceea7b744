/* SPDX-License-Identifier: MIT */
/*
 * stuck_loop.c -- a loop that waits for events, and that is stuck once in a
 * while. After 400 ms of the loop, the work is one of these:
 *
 *   loop   the loop goes on
 *   burn   the main thread computes in stuck_here
 *   lock it waits for a mutex that is held all that time
 *   span   it waits in poll for 300 ms, in a span with the name "request"
 *
 * The work takes until all FILEs are there, or 1 s without a FILE. After a span
 * the loop does. Then the loop goes on for 400 ms. Prints ok.
 *
 * Usage: stuck_loop WORK [FILE...]
 */
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "sprof.h"

#include "work.h"

enum { LOOP_MS = 400, WORK_MS = 1000, SPAN_MS = 300 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static char **files;

static uint64_t
now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void
run_loop(unsigned ms)
{
    uint64_t begin = now_ms();
    while (now_ms() - begin < ms)
        poll(NULL, 0, 10);
}

/* Whether the work that began at BEGIN is over. */
static bool
is_over(uint64_t begin)
{
    while (*files != NULL && access(*files, F_OK) == 0)
        if (*++files == NULL)
            return true;
    return *files == NULL && now_ms() - begin >= WORK_MS;
}

FRAME static uint64_t
stuck_here(void)
{
    uint64_t sum = 0, begin = now_ms();
    do
        sum += work_burn(5);
    while (!is_over(begin));
    KEEP_FRAME();
    return sum;
}

static void *
hold_mutex(void *barrier)
{
    pthread_mutex_lock(&mutex);
    pthread_barrier_wait(barrier);
    for (uint64_t begin = now_ms(); !is_over(begin);)
        work_sleep(5);
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
    files = argv + (argc > 2 ? 2 : argc);
    run_loop(LOOP_MS);
    if (strcmp(what, "burn") == 0)
        (void)stuck_here();
    else if (strcmp(what, "lock") == 0)
        wait_for_mutex();
    else if (strcmp(what, "span") == 0)
        take_span(SPAN_MS);
    else
        run_loop(WORK_MS);
    while (*files != NULL && !is_over(0))
        run_loop(10);
    run_loop(LOOP_MS);
    puts("ok");
    return 0;
}
