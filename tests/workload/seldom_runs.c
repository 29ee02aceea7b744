/* SPDX-License-Identifier: MIT */
/*
 * seldom_runs.c -- a main thread that runs for a tenth of a period of the usual
 * rate, and then sleeps: anything that restarts the period in between takes its
 * samples away. Usage: seldom_runs TURNS
 */
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "work.h"

#define RUN_NS 100000
#define SLEEP_NS 5000000

static int64_t
used(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

FRAME static void
run_shortly(void)
{
    int64_t end = used() + RUN_NS;
    while (used() < end)
        KEEP_FRAME();
}

int
main(int argc, char **argv)
{
    const struct timespec pause = {0, SLEEP_NS};
    unsigned turns = work_argument(argc, argv, 1, 400);
    work_expect("main;run_shortly");
    for (unsigned i = 0; i < turns; i++) {
        run_shortly();
        nanosleep(&pause, NULL);
    }
    puts("ok");
    return 0;
}
