/* SPDX-License-Identifier: MIT */
/*
 * busy_and_waiting.c -- gives a live view something to show: a thread that
 * burns the CPU in hot_spot, one that waits in read, and one that naps and
 * whose name no terminal should get to see as it is. Runs for the given number
 * of ms (10,000), then prints ok. With a second argument it runs until SIGUSR1,
 * and then replaces itself by an image that burns in next_spot, until the next
 * SIGUSR1.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "work.h"

static atomic_bool is_over;

static FRAME uint64_t
hot_spot(void)
{
    uint64_t sum = 1;

    for (unsigned i = 0; i < 2000000; i++)
        sum = sum * 6364136223846793005u + i;
    KEEP_FRAME();
    return sum;
}

/* Not the same bytes as hot_spot, which would be folded into one. */
static FRAME uint64_t
next_spot(void)
{
    uint64_t sum = 2;

    for (unsigned i = 0; i < 3000000; i++)
        sum = sum * 2862933555777941757u + i;
    KEEP_FRAME();
    return sum;
}

static void *
burn(void *is_next)
{
    pthread_setname_np(pthread_self(), "burner");
    while (!is_over)
        if (is_next != NULL)
            next_spot();
        else
            hot_spot();
    return NULL;
}

static void *
wait_for_input(void *ends)
{
    char byte;

    pthread_setname_np(pthread_self(), "reader");
    if (read(((int *)ends)[0], &byte, 1) != 1)
        work_fail("read");
    return NULL;
}

static void *
nap(void *unused)
{
    (void)unused;
    pthread_setname_np(pthread_self(), "odd\033[31m\377");
    while (!is_over)
        work_sleep(5);
    return NULL;
}

/* For MS, or until SIGUSR1. */
static void
stay(unsigned ms, bool for_signal)
{
    sigset_t set;
    int number;

    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    if (!for_signal)
        work_sleep(ms);
    else if (sigwait(&set, &number) != 0)
        work_fail("sigwait");
}

/* Before any thread exists that could take it. */
static void
block_signal(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
}

int
main(int argc, char **argv)
{
    bool is_next = argc > 2 && strcmp(argv[2], "next") == 0;
    unsigned ms = work_argument(argc, argv, 1, 10000);
    pthread_t threads[3];
    int ends[2];

    block_signal();
    if (pipe(ends) != 0 ||
        pthread_create(&threads[0], NULL, burn, is_next ? ends : NULL) != 0 ||
        pthread_create(&threads[1], NULL, wait_for_input, ends) != 0 ||
        pthread_create(&threads[2], NULL, nap, NULL) != 0)
        work_fail("begin");
    stay(ms, argc > 2);
    if (argc > 2 && !is_next)
        execl("/proc/self/exe", argv[0], argv[1], "next", (char *)NULL);
    is_over = true;
    if (write(ends[1], "x", 1) != 1)
        work_fail("write");
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    puts("ok");
    return 0;
}
