/* SPDX-License-Identifier: MIT */
/*
 * sleepers.c -- threads that wait for the whole run, in ways that a signal can
 * disturb: nanosleep, poll, read from a pipe, sigwait-free futex wait. Each
 * counts the interruptions (EINTR) that it sees; while they wait, main works.
 *
 * Argument: milliseconds, 1000. Prints "interrupted: N" on stderr.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "work.h"

static atomic_uint interrupted;
static unsigned budget;
static int pipe_ends[2];
static sem_t semaphore;
static volatile uint64_t sink;

static void *
in_nanosleep(void *argument)
{
    struct timespec left = {budget / 1000, budget % 1000 * 1000000l};

    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        atomic_fetch_add(&interrupted, 1);
    return argument;
}

static void *
in_poll(void *argument)
{
    struct pollfd end = {.fd = pipe_ends[0], .events = POLLIN};

    while (poll(&end, 1, -1) < 0 && errno == EINTR)
        atomic_fetch_add(&interrupted, 1);
    return argument;
}

static void *
in_read(void *argument)
{
    char byte;

    while (read(pipe_ends[0], &byte, 1) < 0 && errno == EINTR)
        atomic_fetch_add(&interrupted, 1);
    return argument;
}

static void *
in_semaphore(void *argument)
{
    while (sem_wait(&semaphore) != 0 && errno == EINTR)
        atomic_fetch_add(&interrupted, 1);
    return argument;
}

static void
start(pthread_t *thread, void *(*function)(void *))
{
    if (pthread_create(thread, NULL, function, NULL) != 0)
        work_fail("pthread_create");
}

int
main(int argc, char **argv)
{
    pthread_t threads[4];

    budget = work_argument(argc, argv, 1, 1000);
    if (pipe(pipe_ends) != 0 || sem_init(&semaphore, 0, 0) != 0)
        work_fail("pipe or semaphore");
    start(&threads[0], in_nanosleep);
    start(&threads[1], in_poll);
    start(&threads[2], in_read);
    start(&threads[3], in_semaphore);

    work_expect("main;work_burn");
    sink += work_burn(budget);
    if (write(pipe_ends[1], "xx", 2) != 2)
        work_fail("write");
    sem_post(&semaphore);
    for (unsigned i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    fprintf(stderr, "interrupted: %u\n", atomic_load(&interrupted));
    puts("ok");
    return 0;
}
