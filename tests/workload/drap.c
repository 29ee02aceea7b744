/* SPDX-License-Identifier: MIT */
/*
 * drap.c -- a function that aligns its stack to 64 bytes and takes room of a
 * size known only at run time. gcc then finds its caller's frame through a
 * pointer stored on the stack: the unwind table has a DWARF expression, which
 * no rule of the form "register + offset" can say.
 *
 * Argument: milliseconds of CPU time, 1000.
 */
#include <alloca.h>
#include <stdio.h>
#include <string.h>

#include "work.h"

static volatile uint64_t sink;

FRAME static void
below(unsigned ms)
{
    sink += work_burn(ms);
    KEEP_FRAME();
}

FRAME static void
realigned(unsigned ms, unsigned room, int a, int b, int c, int d, int e)
{
    volatile char aligned[128] __attribute__((aligned(64)));
    char *variable = alloca(room);

    /* Use both, so that neither is optimized away. */
    memset(variable, a, room);
    aligned[ms % 64] = variable[room / 2];
    below(ms);
    sink += (uint64_t)(aligned[ms % 64] + variable[room - 1] + b + c + d + e);
}

FRAME static void
caller(unsigned ms)
{
    realigned(ms, 100 + ms % 900, 1, 2, 3, 4, 5);
    KEEP_FRAME();
}

int
main(int argc, char **argv)
{
    unsigned ms = work_argument(argc, argv, 1, 1000) / 100;

    work_expect("main;caller;realigned;below;work_burn");
    for (unsigned i = 0; i < 100; i++)
        caller(ms);
    puts("ok");
    return 0;
}
