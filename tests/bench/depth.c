/* SPDX-License-Identifier: MIT */
/*
 * depth.c -- computes for a while on a stack of a known depth. Usage: depth
 * FRAMES SECONDS. The frames between main and the loop are FRAMES calls of one
 * function that cannot be inlined or turned into a jump.
 */
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

static volatile uint64_t sink;

static double
seconds_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* The clock is asked every few milliseconds only: samples shall fall here. */
__attribute__((noinline)) static uint64_t
compute(double until)
{
    uint64_t seed = 88172645463325252u;

    while (seconds_now() < until) {
        for (unsigned i = 0; i < 2000000; i++) {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
        }
    }
    return seed;
}

__attribute__((noinline)) static uint64_t
descend(unsigned long frames, double until)
{
    if (frames == 0)
        return compute(until);
    return descend(frames - 1, until) ^ frames;
}

int
main(int argc, char **argv)
{
    unsigned long frames = argc > 1 ? strtoul(argv[1], NULL, 10) : 50;
    double seconds = argc > 2 ? strtod(argv[2], NULL) : 3;

    sink = descend(frames, seconds_now() + seconds);
    return 0;
}
