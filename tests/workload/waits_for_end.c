/* SPDX-License-Identifier: MIT */
/*
 * waits_for_end.c -- SIGTERM, SIGINT and SIGHUP by their default action, while
 * a thread waits for them. They end the process if its main thread does not
 * block them. If all threads block them, the waiting thread gets them. A child
 * does it, many times. Prints "ok", or how many ended otherwise.
 *
 *   waits_for_end WAY [COUNT]
 *
 * Without a WAY all ways are printed.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "by_number.h"

#define TAKEN 7 /* the status of a child whose waiting thread got it */

static sigset_t three;
static int ready[2], descriptor = -1;
static volatile unsigned long sink;

/* All that deals with signals is done by syscall(2). */
static bool is_by_number;

static void
block_three(void)
{
    if (is_by_number)
        number_sigmask(SIG_BLOCK, &three, NULL);
    else
        pthread_sigmask(SIG_BLOCK, &three, NULL);
}

static void
make_descriptor(void)
{
    descriptor = is_by_number ? number_signalfd(-1, &three, SFD_NONBLOCK)
                              : signalfd(-1, &three, SFD_NONBLOCK);
}

static void
say_ready(void)
{
    (void)!write(ready[1], "", 1);
}

/* Wait in short turns, so that some begin just when the signal comes. */

static void *
by_sigtimedwait(void *unused)
{
    struct timespec turn = {0, 200000};
    while (sigtimedwait(&three, NULL, &turn) < 0)
        continue;
    _exit(TAKEN);
    return unused;
}

static void *
by_number(void *unused)
{
    struct timespec turn = {0, 200000};
    while (number_sigtimedwait(&three, NULL, &turn) < 0)
        continue;
    _exit(TAKEN);
    return unused;
}

static void *
by_sigwait(void *unused)
{
    int signo;
    if (sigwait(&three, &signo) == 0)
        _exit(TAKEN);
    return unused;
}

static void *
by_sigwaitinfo(void *unused)
{
    while (sigwaitinfo(&three, NULL) < 0)
        continue;
    _exit(TAKEN);
    return unused;
}

static void *
by_descriptor(void *unused)
{
    struct signalfd_siginfo info;
    struct pollfd poll_it;
    if (descriptor < 0)
        make_descriptor();
    poll_it = (struct pollfd){.fd = descriptor, .events = POLLIN};
    while (read(descriptor, &info, sizeof(info)) != sizeof(info))
        poll(&poll_it, 1, 1);
    _exit(TAKEN);
    return unused;
}

static void *
compute(void *unused)
{
    for (;;)
        sink++;
    return unused;
}

enum who { NOBODY, WAITER, EVERYBODY, LATER, BOTH };

struct way {
    const char *name;
    void *(*wait)(void *);
    enum who blocks;
    bool is_by_number;
};

static const struct way ways[] = {
    {"sigtimedwait", by_sigtimedwait, NOBODY, false},
    {"sigwait", by_sigwait, NOBODY, false},
    {"sigwaitinfo", by_sigwaitinfo, NOBODY, false},
    {"signalfd", by_descriptor, NOBODY, false},
    {"sigtimedwait_blocked", by_sigtimedwait, WAITER, false},
    {"sigwait_blocked", by_sigwait, WAITER, false},
    {"signalfd_blocked", by_descriptor, WAITER, false},
    {"sigtimedwait_all", by_sigtimedwait, EVERYBODY, false},
    {"sigwait_all", by_sigwait, EVERYBODY, false},
    {"signalfd_all", by_descriptor, EVERYBODY, false},
    {"signalfd_later", by_descriptor, LATER, false},
    {"two_sigtimedwaits", by_sigtimedwait, BOTH, false},
    {"two_sigwaits", by_sigwait, BOTH, false},
    {"number_sigtimedwait", by_number, NOBODY, true},
    {"number_sigtimedwait_blocked", by_number, WAITER, true},
    {"number_sigtimedwait_all", by_number, EVERYBODY, true},
    {"number_two_sigtimedwaits", by_number, BOTH, true},
    {"number_signalfd", by_descriptor, NOBODY, true},
    {"number_signalfd_blocked", by_descriptor, WAITER, true},
    {"number_signalfd_all", by_descriptor, EVERYBODY, true},
    {"number_signalfd_later", by_descriptor, LATER, true},
};

static void *
wait_blocked(void *way)
{
    block_three();
    return ((const struct way *)way)->wait(NULL);
}

static void
be_child(const struct way *way)
{
    pthread_t thread;
    bool all = way->blocks == EVERYBODY || way->blocks == BOTH;
    alarm(120);
    is_by_number = way->is_by_number;
    if (way->blocks == LATER)
        make_descriptor();
    if (all || way->blocks == LATER)
        block_three();
    pthread_create(&thread, NULL, compute, NULL);
    if (way->blocks == WAITER)
        pthread_create(&thread, NULL, wait_blocked, (void *)way);
    else
        pthread_create(&thread, NULL, way->wait, NULL);
    usleep(2000);
    say_ready();
    if (way->blocks == BOTH)
        way->wait(NULL);
    for (;;)
        usleep(500);
}

static bool
is_right(const struct way *way, int signo)
{
    char byte;
    int status;
    pid_t child = fork();
    if (child == 0)
        be_child(way);
    if (read(ready[0], &byte, 1) != 1)
        return false;
    usleep(rand() % 3000);
    kill(child, signo);
    waitpid(child, &status, 0);
    if (way->blocks == NOBODY || way->blocks == WAITER)
        return WIFSIGNALED(status) && WTERMSIG(status) == signo;
    return WIFEXITED(status) && WEXITSTATUS(status) == TAKEN;
}

static int
run(const struct way *way, int count)
{
    static const int signals[] = {SIGTERM, SIGINT, SIGHUP};
    int wrong = 0;
    if (pipe(ready) != 0)
        return 1;
    sigemptyset(&three);
    for (int i = 0; i < 3; i++)
        sigaddset(&three, signals[i]);
    for (int i = 0; i < count; i++)
        wrong += !is_right(way, signals[i % 3]);
    if (wrong == 0)
        puts("ok");
    else
        printf("%d of %d ended otherwise\n", wrong, count);
    return wrong != 0;
}

int
main(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
        if (argc < 2)
            puts(ways[i].name);
        else if (strcmp(argv[1], ways[i].name) == 0)
            return run(&ways[i], argc > 2 ? atoi(argv[2]) : 30);
    return argc >= 2;
}
