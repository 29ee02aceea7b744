/* SPDX-License-Identifier: MIT */
/*
 * work.c -- the helpers of work.h, compiled into each workload with the
 * workload's own flags, so that its frames are part of the test.
 */
#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "work.h"

uint64_t
work_cpu_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t
work_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t
work_burn(unsigned ms)
{
    uint64_t until = work_cpu_ns() + (uint64_t)ms * 1000000u;
    uint64_t mix = until;

    /* The clock is a system call: ask it once in some 20 microseconds. */
    do {
        for (unsigned i = 0; i < 10000; i++)
            mix = mix * 6364136223846793005u + 1442695040888963407u;
    } while (work_cpu_ns() < until);
    return mix;
}

void
work_sleep(unsigned ms)
{
    struct timespec until;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += ms / 1000;
    until.tv_nsec += ms % 1000 * 1000000l;
    if (until.tv_nsec >= 1000000000l) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000l;
    }
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) ==
           EINTR)
        continue;
}

void
work_expect(const char *pattern)
{
    printf("expect: %s\n", pattern);
    fflush(stdout);
}

unsigned
work_argument(int argc, char **argv, int index, unsigned fallback)
{
    if (index >= argc)
        return fallback;
    return (unsigned)strtoul(argv[index], NULL, 10);
}

void
work_beside(const char *name, char *path, size_t size)
{
    char self[4096];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);

    if (length < 0)
        work_fail("/proc/self/exe");
    self[length] = '\0';
    snprintf(path, size, "%s/%s", dirname(self), name);
}

void
work_fail(const char *what)
{
    fprintf(stderr, "workload: %s\n", what);
    exit(1);
}
