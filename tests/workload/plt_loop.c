/* SPDX-License-Identifier: MIT */
/*
 * plt_loop.c -- calls tiny functions of libc through the procedure linkage
 * table without end (compiled with -fplt, linked lazily). Many samples land
 * in the stubs, whose unwind rule depends on the program counter within the
 * stub and is no plain offset.
 *
 * Argument: milliseconds of CPU time, 1000.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "work.h"

static volatile unsigned sink;

/* A hundred thousand calls, then a look at the clock. No compiler knows what
 * rand_r returns, so none calls it once for all. */
FRAME static void
call_often(void)
{
    unsigned seed = 1;
    for (unsigned i = 0; i < 100000; i++)
        sink += (unsigned)rand_r(&seed);
}

int
main(int argc, char **argv)
{
    clock_t until =
        (clock_t)work_argument(argc, argv, 1, 1000) * (CLOCKS_PER_SEC / 1000);

    work_expect("main;(call_often|clock)");
    while (clock() < until)
        call_often();
    puts("ok");
    return 0;
}
