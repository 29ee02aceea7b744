/* SPDX-License-Identifier: MIT */
/*
 * crowd.c -- threads that all do the same until the process is ended. They
 * compute, or they sleep for 10 ms at a time.
 *
 * Usage: crowd THREADS busy|quiet
 *
 * The main thread is one of them. At the start it prints
 *
 *   began CPU
 *
 * the ns that it had used when main was called.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SLEEP_NS 10000000

static volatile uint64_t sink;

__attribute__((noreturn)) static void *
compute(void *unused)
{
    (void)unused;
    for (uint64_t seed = 1;; seed = seed * 6364136223846793005u + 1)
        sink = seed;
}

__attribute__((noreturn)) static void *
nap(void *unused)
{
    const struct timespec pause = {0, SLEEP_NS};
    (void)unused;
    for (;;)
        nanosleep(&pause, NULL);
}

int
main(int argc, char **argv)
{
    struct timespec began;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &began);
    if (argc != 3)
        return 2;
    void *(*act)(void *) = strcmp(argv[2], "busy") == 0 ? compute : nap;
    printf("began %" PRId64 "\n",
           (int64_t)began.tv_sec * 1000000000 + began.tv_nsec);
    fflush(stdout);
    for (long i = 1; i < strtol(argv[1], NULL, 10); i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, act, NULL) != 0)
            return 1;
    }
    act(NULL);
}
