/* SPDX-License-Identifier: MIT */
/*
 * starts_and_stops.c -- starts and stops being sampled, many times, by the
 * public header alone. It prints how long it was sampled: at the least, from
 * the return of each start to the call of its stop, and at the most, from the
 * call to the return; ns. A second thread only waits.
 *
 * Usage: starts_and_stops TIMES
 */
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "sprof.h"

#include "work.h"

static void *
wait_for_ever(void *unused)
{
    for (;;)
        pause();
    return unused;
}

FRAME static uint64_t
shown_work(unsigned ms)
{
    return work_burn(ms) + 1;
}

FRAME static uint64_t
hidden_work(unsigned ms)
{
    return work_burn(ms) + 2;
}

int
main(int argc, char **argv)
{
    unsigned times = work_argument(argc, argv, 1, 100);
    uint64_t least = 0, most = 0, sum = 0;
    unsigned wrong = 0;
    pthread_t thread;
    if (pthread_create(&thread, NULL, wait_for_ever, NULL) != 0)
        work_fail("pthread_create");
    sum += hidden_work(20);
    for (unsigned i = 0; i < times; i++) {
        uint64_t called = work_now_ns();
        wrong += sprof_start() != 0 || !sprof_is_running();
        uint64_t started = work_now_ns();
        sum += shown_work(i % 3);
        work_sleep(i % 2);
        uint64_t stopping = work_now_ns();
        wrong += sprof_stop() != 0 || sprof_is_running();
        uint64_t stopped = work_now_ns();
        sum += hidden_work(i % 2);
        least += stopping - started;
        most += stopped - called;
    }
    /* What is so already. */
    wrong += sprof_stop() != 0;
    printf("least %llu\nmost %llu\nwrong %u\n%s\n", (unsigned long long)least,
           (unsigned long long)most, wrong, sum != 0 ? "ok" : "nothing done");
    return 0;
}
