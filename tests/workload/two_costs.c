/* SPDX-License-Identifier: MIT */
/*
 * two_costs.c -- does the same work in every run, and more of it in one
 * function if its arguments say so: how two profiles of it differ is known.
 *
 *   two_costs ROUNDS FIRST SECOND     steps in each round, in thousands
 *
 * The main thread calls first and second, both through call_both; a thread
 * named "waiter" waits for it to be over. Prints "ok".
 */
#include <pthread.h>
#include <stdio.h>

#include "work.h"

static volatile uint64_t sink;
static pthread_mutex_t over = PTHREAD_MUTEX_INITIALIZER;

/* One loop each, so that the time is their own. */
FRAME static void
first(unsigned thousands)
{
    uint64_t x = thousands;

    for (unsigned i = 0; i < thousands * 1000; i++)
        x = x * 6364136223846793005u + i;
    sink += x;
    KEEP_FRAME();
}

FRAME static void
second(unsigned thousands)
{
    uint64_t x = thousands;

    for (unsigned i = 0; i < thousands * 1000; i++)
        x = x * 1442695040888963407u + i;
    sink += x;
    KEEP_FRAME();
}

FRAME static void
call_both(unsigned first_steps, unsigned second_steps)
{
    first(first_steps);
    second(second_steps);
    KEEP_FRAME();
}

FRAME static void *
wait_until_over(void *argument)
{
    pthread_mutex_lock(&over);
    pthread_mutex_unlock(&over);
    return argument;
}

int
main(int argc, char **argv)
{
    unsigned rounds = work_argument(argc, argv, 1, 100);
    unsigned first_steps = work_argument(argc, argv, 2, 1000);
    unsigned second_steps = work_argument(argc, argv, 3, 1000);
    pthread_t waiter;

    pthread_mutex_lock(&over);
    if (pthread_create(&waiter, NULL, wait_until_over, NULL) != 0)
        work_fail("pthread_create");
    pthread_setname_np(waiter, "waiter");
    for (unsigned i = 0; i < rounds; i++)
        call_both(first_steps, second_steps);
    pthread_mutex_unlock(&over);
    pthread_join(waiter, NULL);
    puts("ok");
    return 0;
}
