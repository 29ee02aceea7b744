/* SPDX-License-Identifier: MIT */
/*
 * short_life.c -- uses the given number of milliseconds of CPU time and ends.
 * These are too few for sampling to pay, and more than a shell's small commands
 * use.
 *
 * Arguments: milliseconds of CPU time, and a real-time priority (sched(7)) for
 * the main thread alone.
 */
#include <sched.h>

#include "work.h"

int
main(int argc, char **argv)
{
    struct sched_param own = {(int)work_argument(argc, argv, 2, 0)};

    if (own.sched_priority != 0 && sched_setscheduler(0, SCHED_FIFO, &own) != 0)
        work_fail("sched_setscheduler");
    work_burn(work_argument(argc, argv, 1, 3));
    return 0;
}
