/* SPDX-License-Identifier: MIT */
/*
 * known_cpu.c -- CPU time of which the program knows how much there was. The
 * traps are system calls that run for many sample points, and a crowd of
 * threads that lose their CPU while they end.
 *
 *   known_cpu calls BYTES      computes, and reads BYTES of random numbers at a
 *                              time, in turns; prints "truth: SHARE", the share
 *                              of call_part() in percent
 *   known_cpu crowd THREADS    threads that compute at once, and return; prints
 *                              "cpu: SECONDS", what the process used
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "work.h"

#define ROUNDS 8u
#define PART_NS 50000000u /* least CPU time of a part of a round */
#define CROWD_MS 800u     /* CPU time of all threads of a crowd */

static unsigned each;

FRAME static void
user_part(void)
{
    (void)work_burn(PART_NS / 1000000);
    KEEP_FRAME();
}

FRAME static uint64_t
call_part(int from, char *buffer, size_t size)
{
    uint64_t begin = work_cpu_ns();
    while (work_cpu_ns() - begin < PART_NS)
        if (read(from, buffer, size) != (ssize_t)size)
            work_fail("read");
    return work_cpu_ns() - begin;
}

static void
run_calls(size_t size)
{
    int from = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    char *buffer = malloc(size);
    uint64_t calls = 0, begin = work_cpu_ns();
    if (from < 0 || buffer == NULL)
        work_fail("no random numbers");
    for (unsigned i = 0; i < ROUNDS; i++) {
        user_part();
        calls += call_part(from, buffer, size);
    }
    printf("truth: %.1f\n",
           100.0 * (double)calls / (double)(work_cpu_ns() - begin));
    free(buffer);
}

FRAME static void *
compute(void *unused)
{
    (void)unused;
    (void)work_burn(each);
    KEEP_FRAME();
    return NULL;
}

static void
run_crowd(unsigned count)
{
    pthread_t *threads = calloc(count, sizeof(*threads));
    struct timespec used;
    each = CROWD_MS / count;
    if (threads == NULL)
        work_fail("calloc");
    for (unsigned i = 0; i < count; i++)
        if (pthread_create(&threads[i], NULL, compute, NULL) != 0)
            work_fail("pthread_create");
    for (unsigned i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    printf("cpu: %.6f\n", (double)used.tv_sec + (double)used.tv_nsec / 1e9);
    free(threads);
}

int
main(int argc, char **argv)
{
    unsigned number = work_argument(argc, argv, 2, 1);
    if (argc > 1 && strcmp(argv[1], "crowd") == 0)
        run_crowd(number);
    else
        run_calls(number);
    puts("ok");
    return 0;
}
