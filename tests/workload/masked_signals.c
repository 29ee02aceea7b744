/* SPDX-License-Identifier: MIT */
/*
 * masked_signals.c -- threads that block every signal, or wait for signals
 * themselves: one computes with all signals blocked, one takes SIGUSR1 and
 * SIGPROF by sigwait, one reads a signalfd. Each must see only what the
 * program sent, and no signal may be left pending.
 *
 * Argument: milliseconds, 1000.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "work.h"

static unsigned budget;
static volatile uint64_t sink;

static void *
computes_masked(void *argument)
{
    sink += work_burn(budget);
    return argument;
}

/* Takes SIGUSR1 twice. */
static void *
waits_for_signal(void *argument)
{
    sigset_t set;
    int number = 0;

    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    for (unsigned i = 0; i < 2; i++)
        if (sigwait(&set, &number) != 0 || number != SIGUSR1)
            work_fail("sigwait gave a signal that nobody sent");
    return argument;
}

/* Reads one SIGUSR2 from a descriptor. */
static void *
reads_signal(void *argument)
{
    struct signalfd_siginfo info;
    sigset_t set;
    int fd;

    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    fd = signalfd(-1, &set, SFD_CLOEXEC);
    if (fd < 0 || read(fd, &info, sizeof info) != (ssize_t)sizeof info ||
        info.ssi_signo != SIGUSR2)
        work_fail("signalfd gave a signal that nobody sent");
    close(fd);
    return argument;
}

int
main(int argc, char **argv)
{
    pthread_t threads[3];
    sigset_t all, before;

    budget = work_argument(argc, argv, 1, 1000);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(&threads[0], NULL, computes_masked, NULL) != 0 ||
        pthread_create(&threads[1], NULL, waits_for_signal, NULL) != 0 ||
        pthread_create(&threads[2], NULL, reads_signal, NULL) != 0)
        work_fail("pthread_create");
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_kill(threads[1], SIGUSR1);
    sink += work_burn(budget);
    pthread_kill(threads[1], SIGUSR1);
    pthread_kill(threads[2], SIGUSR2);
    for (unsigned i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    puts("ok");
    return 0;
}
