/* SPDX-License-Identifier: MIT */
/*
 * known_stack.c -- a chain of plain calls with a known order. Built once for
 * each way in which a compiler lays out frames: -O0, -O2, -O3 -flto, with and
 * without frame pointers, stripped, with split and compressed debug files. (A
 * static-pie has no dynamic linker and cannot be preloaded.)
 *
 * Argument: milliseconds of CPU time, 1000.
 */
#include <stdio.h>

#include "work.h"

static volatile uint64_t sink;

FRAME static void
leaf_spin(unsigned ms)
{
    sink += work_burn(ms);
    KEEP_FRAME();
}

/* Room on the stack, so that the frame is not just a return address. */
FRAME static void
with_locals(unsigned ms)
{
    volatile char room[256];

    for (unsigned i = 0; i < sizeof room; i++)
        room[i] = (char)i;
    leaf_spin(ms);
    sink += (uint64_t)room[ms % sizeof room];
}

/* More live values than scratch registers: rbx, rbp and r12..r15 are saved. */
FRAME static uint64_t
with_registers(unsigned ms, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
               uint64_t e)
{
    uint64_t f = a * b, g = c * d, h = e * a, i = b * c;

    with_locals(ms);
    KEEP_FRAME();
    return a + b * 3 + c * 5 + d * 7 + e * 11 + f + g + h + i;
}

/* Arguments on the stack. */
FRAME static uint64_t
with_arguments(unsigned ms, int a, int b, int c, int d, int e, int f, int g,
               int h)
{
    uint64_t sum = with_registers(ms, (uint64_t)a, (uint64_t)b, (uint64_t)c,
                                  (uint64_t)d, (uint64_t)e);

    KEEP_FRAME();
    return sum + (uint64_t)(f + g + h);
}

FRAME static void
through_pointer(unsigned ms, void (*next)(unsigned))
{
    next(ms);
    KEEP_FRAME();
}

FRAME static void
pointed_to(unsigned ms)
{
    sink += with_arguments(ms, 1, 2, 3, 4, 5, 6, 7, 8);
    KEEP_FRAME();
}

int
main(int argc, char **argv)
{
    unsigned ms = work_argument(argc, argv, 1, 1000);

    work_expect("main;through_pointer;pointed_to;with_arguments;"
                "with_registers;with_locals;leaf_spin;work_burn");
    through_pointer(ms, pointed_to);
    puts("ok");
    return 0;
}
