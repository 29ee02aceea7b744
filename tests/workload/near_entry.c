/* SPDX-License-Identifier: MIT */
/*
 * near_entry.c -- a program without unwind tables, whose functions lie right
 * after its first instructions. The first instructions are the root of a stack,
 * and the functions are not.
 *
 * Argument: milliseconds of CPU time, 1000.
 */
#include <stdint.h>
#include <stdio.h>

#include "work.h"

static volatile uint64_t sink;

FRAME static void
near_entry(void)
{
    for (unsigned i = 0; i < 100000; i++)
        sink++;
}

FRAME static void
outer(void)
{
    near_entry();
    sink++;
}

int
main(int argc, char **argv)
{
    unsigned budget = work_argument(argc, argv, 1, 1000);
    uint64_t end = work_cpu_ns() + budget * 1000000ull;

    work_expect("main;outer;near_entry");
    while (work_cpu_ns() < end)
        outer();
    puts("ok");
    return 0;
}
