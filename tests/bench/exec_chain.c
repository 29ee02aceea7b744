/* SPDX-License-Identifier: MIT */
/*
 * exec_chain.c -- computes, and becomes itself again. Usage:
 *
 *   exec_chain EXECS MICROSECONDS
 *
 * Each image uses so much CPU time, which is enough to be sampled or not.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static uint64_t
cpu_time(void)
{
    struct timespec time;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* The time before main counts, too: it is the image's. */
static void
compute(uint64_t ns)
{
    volatile double sum = 0;

    do
        for (int i = 0; i < 2000; i++)
            sum += i;
    while (cpu_time() < ns);
}

int
main(int argc, char **argv)
{
    static char left[16];
    long execs = argc == 3 ? atol(argv[1]) : 0;
    char *next[] = {argv[0], left, argc == 3 ? argv[2] : NULL, NULL};

    if (argc != 3)
        return 2;
    /* An exec keeps the process's clock: each image has its own part. */
    compute(cpu_time() + strtoull(argv[2], NULL, 10) * 1000);
    if (execs == 0)
        return 0;
    snprintf(left, sizeof left, "%ld", execs - 1);
    execv("/proc/self/exe", next);
    return 1;
}
