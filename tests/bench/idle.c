/* SPDX-License-Identifier: MIT */
/*
 * idle.c -- many threads that do nothing, on stacks of 64 KiB. Each is in one
 * of three waits: a futex, a read from a pipe, a long nanosleep.
 *
 * Usage: idle THREADS SECONDS [busy|wake|still [STILL]]
 *
 * "busy" adds one thread that computes in four functions, 50/30/15/5 %; with
 * "wake" each thread sleeps for 100 ms at a time instead. The clocks are read
 * when all threads have been there for STILL seconds (1), and SECONDS later:
 *
 *   window CPU WALL       of the whole process, in nanoseconds
 *   threads COUNT         how many there were
 *
 * and what print_truth() prints. The process ends with all of them waiting.
 */
#include <linux/futex.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "slices.h"

#define STACK_SIZE (64 << 10)

static int word, ends[2];
static unsigned arrived;
static int64_t settled, deadline; /* CLOCK_MONOTONIC */

WORK(share_50, 3, )
WORK(share_30, 5, )
WORK(share_15, 7, )
WORK(share_5, 11, )

static void
arrive(void)
{
    __atomic_fetch_add(&arrived, 1, __ATOMIC_RELAXED);
}

static void *
wait_futex(void *unused)
{
    arrive();
    for (;;)
        syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
    return unused;
}

static void *
wait_read(void *unused)
{
    char byte;

    arrive();
    while (read(ends[0], &byte, 1) != 0)
        continue;
    return unused;
}

static void *
wait_sleep(void *unused)
{
    struct timespec hour = {3600, 0};

    arrive();
    for (;;)
        nanosleep(&hour, NULL);
    return unused;
}

static void *
wake_often(void *unused)
{
    struct timespec pause = {0, 100 * MS};

    arrive();
    for (;;)
        nanosleep(&pause, NULL);
    return unused;
}

static void *
busy(void *unused)
{
    struct timespec pause = {0, 1 * MS};

    thread_begin(1);
    while (__atomic_load_n(&settled, __ATOMIC_ACQUIRE) == 0)
        nanosleep(&pause, NULL);
    while (clock_now(CLOCK_MONOTONIC) < deadline) {
        uint64_t chance = pick(100);

        slice(chance < 50   ? &share_50_part
              : chance < 80 ? &share_30_part
              : chance < 95 ? &share_15_part
                            : &share_5_part,
              (int64_t)pick(1000 * US));
    }
    thread_end();
    return unused;
}

static unsigned
start_all(unsigned wanted, int waking)
{
    static void *(*const waits[])(void *) = {wait_futex, wait_read, wait_sleep};
    pthread_attr_t attributes;
    pthread_t thread;
    unsigned count;

    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_SIZE);
    pthread_attr_setguardsize(&attributes, 0);
    for (count = 0; count < wanted; count++)
        if (pthread_create(&thread, &attributes,
                           waking ? wake_often : waits[count % 3], NULL) != 0)
            break;
    while (__atomic_load_n(&arrived, __ATOMIC_RELAXED) < count)
        usleep(1000);
    return count;
}

int
main(int argc, char **argv)
{
    unsigned wanted = argc > 1 ? (unsigned)atoi(argv[1]) : 100;
    double seconds = argc > 2 ? atof(argv[2]) : 1;
    const char *how = argc > 3 ? argv[3] : "still";
    unsigned still = argc > 4 ? (unsigned)atoi(argv[4]) : 1;
    int computing = strcmp(how, "busy") == 0;
    unsigned count;
    int64_t cpu, wall;
    pthread_t thread;

    calibrate();
    if (pipe(ends) != 0)
        return 1;
    count = start_all(wanted, strcmp(how, "wake") == 0);
    if (computing && pthread_create(&thread, NULL, busy, NULL) != 0)
        return 1;
    sleep(still);
    cpu = clock_now(CLOCK_PROCESS_CPUTIME_ID);
    wall = clock_now(CLOCK_MONOTONIC);
    deadline = wall + (int64_t)(seconds * 1e9);
    __atomic_store_n(&settled, 1, __ATOMIC_RELEASE);
    if (computing)
        pthread_join(thread, NULL);
    else
        while (clock_now(CLOCK_MONOTONIC) < deadline)
            usleep(
                (useconds_t)((deadline - clock_now(CLOCK_MONOTONIC)) / 1000) +
                1);
    cpu = clock_now(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    wall = clock_now(CLOCK_MONOTONIC) - wall;
    printf("window %lld %lld\nthreads %u\n", (long long)cpu, (long long)wall,
           count);
    print_truth();
    return 0;
}
