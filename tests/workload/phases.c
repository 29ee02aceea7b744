/* SPDX-License-Identifier: MIT */
/*
 * phases.c -- its work changes with time: first(), then second(), then third(),
 * which goes on until its standard input ends; each works for a quarter of the
 * time and sleeps for the rest. Three threads wait, of which one ends with the
 * first phase; it prints the tids of the others ("stays TID"). More threads, in
 * third(), come and go. In the end it prints the CPU time and the wall time
 * that its main thread took, in seconds, and returns from main; or has its
 * profile written before that.
 *
 * phases stacks: instead, stacks that are new again and again, without end.
 *
 * Usage: phases MS [write] | phases stacks
 */
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "sprof.h"

#include "work.h"

static int doors[2]; /* the program does not open them */

FRAME static void *
wait_long(void *unused)
{
    char byte;
    printf("stays %ld\n", (long)gettid());
    if (read(doors[0], &byte, 1) >= 0)
        work_fail("read");
    return unused;
}

FRAME static void *
wait_for_first(void *ms)
{
    work_sleep(*(unsigned *)ms);
    return NULL;
}

FRAME static uint64_t
step(void)
{
    uint64_t sum = work_burn(5);
    work_sleep(15);
    return sum;
}

FRAME static uint64_t
first(unsigned ms)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < ms / 20; i++)
        sum += step();
    return sum + 1;
}

FRAME static uint64_t
second(unsigned ms)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < ms / 20; i++)
        sum += step();
    return sum + 2;
}

static void *
come_and_go(void *sum)
{
    *(uint64_t *)sum += work_burn(2);
    return NULL;
}

FRAME static uint64_t
third(void)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    uint64_t sum = 0, part = 0;
    while (poll(&input, 1, 0) == 0) {
        pthread_t thread;
        sum += step();
        if (pthread_create(&thread, NULL, come_and_go, &part) != 0)
            work_fail("pthread_create");
        pthread_join(thread, NULL);
    }
    return sum + part;
}

/* Each bit of PATH picks one of two calls. */
FRAME static uint64_t turn_left(uint64_t path, unsigned depth);

FRAME static uint64_t
turn_right(uint64_t path, unsigned depth)
{
    if (depth == 0)
        return work_burn(0) + path;
    return (path & 1 ? turn_left(path >> 1, depth - 1)
                     : turn_right(path >> 1, depth - 1)) +
           1;
}

FRAME static uint64_t
turn_left(uint64_t path, unsigned depth)
{
    volatile uint64_t sum = 0;
    if (depth == 0)
        for (unsigned i = 0; i < 20000; i++)
            sum += i;
    else
        sum = path & 1 ? turn_left(path >> 1, depth - 1)
                       : turn_right(path >> 1, depth - 1);
    return sum + 2;
}

static void
make_stacks(void)
{
    uint64_t path = 0x9e3779b97f4a7c15u, sum = 0;
    for (;;) {
        path = path * 6364136223846793005u + 1442695040888963407u;
        sum += turn_left(path >> 7 | 1u << 19, 40);
        if (sum == 1)
            return;
    }
}

static double
seconds(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

int
main(int argc, char **argv)
{
    pthread_t threads[3];
    int error = sprof_start(); /* if it is not so already */
    double start = seconds(CLOCK_MONOTONIC);
    double used = seconds(CLOCK_THREAD_CPUTIME_ID);
    unsigned ms;
    if (error != 0 && error != (int)SPROF_ERROR_NOT_RUNNING)
        work_fail("sprof_start");
    printf("ready %ld\n", (long)getpid());
    fflush(stdout);
    if (argc > 1 && strcmp(argv[1], "stacks") == 0)
        make_stacks();
    ms = work_argument(argc, argv, 1, 1000);
    if (pipe(doors) != 0 ||
        pthread_create(&threads[0], NULL, wait_long, NULL) != 0 ||
        pthread_create(&threads[1], NULL, wait_long, NULL) != 0 ||
        pthread_create(&threads[2], NULL, wait_for_first, &ms) != 0)
        work_fail("pthread_create");
    uint64_t sum = first(ms);
    pthread_join(threads[2], NULL);
    sum += second(ms);
    puts("third");
    fflush(stdout);
    sum += third();
    if (argc > 2 && sprof_write() != 0)
        work_fail("sprof_write");
    printf("cpu %.6f\nwall %.6f\n", seconds(CLOCK_THREAD_CPUTIME_ID) - used,
           seconds(CLOCK_MONOTONIC) - start);
    puts(sum != 0 ? "ok" : "nothing done");
    return 0;
}
