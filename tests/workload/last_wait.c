/* SPDX-License-Identifier: MIT */
/*
 * last_wait.c -- two threads compute all the time. One of them begins to wait
 * 30 ms before the other one ends the program. A sampler that looks seldom at
 * threads which run all the time must not miss that wait.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

#include "work.h"

#define MS 300
#define LATER_MS 30
#define STEP_MS 5

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static _Atomic bool does_wait;
static volatile uint64_t sink;

FRAME static void
wait_last(void)
{
    pthread_mutex_lock(&lock);
    for (;;)
        pthread_cond_wait(&never, &lock);
}

static void *
work_and_wait(void *unused)
{
    sink += work_burn(MS);
    does_wait = true;
    wait_last();
    return unused;
}

int
main(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, work_and_wait, NULL) != 0)
        work_fail("pthread_create");
    while (!does_wait)
        sink += work_burn(STEP_MS);
    sink += work_burn(LATER_MS);
    puts("ok");
    return 0;
}
