/* SPDX-License-Identifier: MIT */
/*
 * takes_all_numbers.c -- uses SIGPROF and all real-time signals from FIRST on,
 * so that none is left for a profiler. Each of them reaches its handler, and
 * can be waited for. With "waiter", a thread has waited for all of them before.
 *
 * Usage: takes_all_numbers FIRST [waiter]
 * Prints "ok", or what is wrong.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "work.h"

/* Times that each signal is sent. */
#define TIMES 3

/* So many seconds pass only if a signal does not come. */
#define PATIENCE 10

static volatile uint64_t sink;
static volatile int handled[NSIG];
static int first;

static void
count(int signo)
{
    handled[signo]++;
}

static sigset_t
all(void)
{
    sigset_t set;
    sigemptyset(&set);
    for (int signo = first; signo <= SIGRTMAX; signo++)
        sigaddset(&set, signo);
    return set;
}

static void
send(int signo)
{
    union sigval value = {.sival_int = signo};
    if (sigqueue(getpid(), signo, value) != 0)
        perror("sigqueue");
}

static void
take_numbers(void)
{
    struct sigaction action = {.sa_handler = count, .sa_flags = SA_RESTART};
    struct itimerval often = {{0, 10000}, {0, 10000}}, never = {{0, 0}, {0, 0}};
    sigaction(SIGPROF, &action, NULL);
    setitimer(ITIMER_PROF, &often, NULL);
    sink += work_burn(150);
    setitimer(ITIMER_PROF, &never, NULL);
    for (int signo = first; signo <= SIGRTMAX; signo++)
        sigaction(signo, &action, NULL);
}

static void *
wait_for_all(void *unused)
{
    sigset_t set;
    struct timespec most = {PATIENCE, 0};
    (void)unused;
    sigemptyset(&set);
    sigaddset(&set, SIGPROF);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    sigfillset(&set);
    sigdelset(&set, SIGPROF);
    int signo = sigtimedwait(&set, NULL, &most);
    if (signo != SIGRTMAX - 4)
        printf("the waiter got %d\n", signo);
    return unused;
}

static bool
are_handled(void)
{
    bool is_right = true;
    for (int signo = first; signo <= SIGRTMAX; signo++) {
        for (int i = 0; i < TIMES; i++)
            send(signo);
        if (handled[signo] != TIMES) {
            printf("%d: handled %d times\n", signo, handled[signo]);
            is_right = false;
        }
    }
    return is_right;
}

static bool
can_be_awaited(void)
{
    sigset_t set = all();
    int taken[NSIG] = {0}, signo;
    struct timespec now = {0, 0};
    bool is_right = true;
    sigprocmask(SIG_BLOCK, &set, NULL);
    for (signo = first; signo <= SIGRTMAX; signo++)
        for (int i = 0; i < TIMES; i++)
            send(signo);
    while ((signo = sigtimedwait(&set, NULL, &now)) > 0)
        taken[signo]++;
    for (signo = first; signo <= SIGRTMAX; signo++)
        if (taken[signo] != TIMES) {
            printf("%d: waited for %d of %d\n", signo, taken[signo], TIMES);
            is_right = false;
        }
    return is_right;
}

int
main(int argc, char **argv)
{
    pthread_t thread;
    bool has_waiter = argc > 2 && strcmp(argv[2], "waiter") == 0;
    first = argc > 1 ? atoi(argv[1]) : SIGRTMIN;
    if (has_waiter) {
        sigset_t set = all();
        sigprocmask(SIG_BLOCK, &set, NULL);
        pthread_create(&thread, NULL, wait_for_all, NULL);
    }
    take_numbers();
    if (has_waiter) {
        send(SIGRTMAX - 4);
        pthread_join(thread, NULL);
        puts("ok");
        return 0;
    }
    if (are_handled() && can_be_awaited())
        puts("ok");
    return 0;
}
