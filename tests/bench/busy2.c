/* SPDX-License-Identifier: MIT */
/*
 * busy2.c -- threads that compute a fixed amount of work on stacks about 50
 * frames deep, and print nothing. Usage: busy2 UNITS [THREADS] (a unit is some
 * 0.8 ms of CPU time; each of the THREADS, 2 by default, computes UNITS). Three
 * functions take turns on the way down, so that the stack is not one frame
 * repeated.
 */
/*
 * busy2.c -- threads that compute a fixed amount of work on stacks about 50
 * frames deep, and print nothing. Usage: busy2 UNITS [THREADS] (a unit is some
 * 0.8 ms of CPU time a thread; 1 or 2 threads, 2 by default). Three functions
 * take turns on the way down, so that the stack is not one frame repeated.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#define DEPTH 48

static volatile uint64_t sink;

static uint64_t descend_a(unsigned depth, uint64_t seed);

__attribute__((noinline)) static uint64_t
compute(uint64_t seed)
{
    for (unsigned i = 0; i < 6000; i++) {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
    }
    return seed;
}

__attribute__((noinline)) static uint64_t
descend_c(unsigned depth, uint64_t seed)
{
    if (depth == 0)
        return compute(seed);
    return descend_a(depth - 1, seed + 3) ^ depth;
}

__attribute__((noinline)) static uint64_t
descend_b(unsigned depth, uint64_t seed)
{
    if (depth == 0)
        return compute(seed);
    return descend_c(depth - 1, seed + 2) ^ depth;
}

__attribute__((noinline)) static uint64_t
descend_a(unsigned depth, uint64_t seed)
{
    if (depth == 0)
        return compute(seed);
    return descend_b(depth - 1, seed + 1) ^ depth;
}

static void *
work(void *argument)
{
    unsigned long units = *(unsigned long *)argument;
    uint64_t seed = 88172645463325252u;

    for (unsigned long unit = 0; unit < units; unit++)
        for (unsigned i = 0; i < 80; i++)
            seed = descend_a(DEPTH - i % 4, seed) | 1;
    sink = seed;
    return NULL;
}

int
main(int argc, char **argv)
{
    unsigned long units = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
    unsigned long count = argc > 2 ? strtoul(argv[2], NULL, 10) : 2;
    pthread_t *others = calloc(count, sizeof *others);

    for (unsigned long i = 1; i < count; i++)
        if (pthread_create(&others[i], NULL, work, &units) != 0)
            return 1;
    work(&units);
    for (unsigned long i = 1; i < count; i++)
        pthread_join(others[i], NULL);
    return 0;
}
