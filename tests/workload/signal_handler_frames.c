/* SPDX-License-Identifier: MIT */
/*
 * signal_handler_frames.c -- computes in ordinary signal handlers, one of them
 * interrupting the other: the stack passes through two signal frames. The
 * first signal arrives between two instructions (a timer), so the frame below
 * it holds a program counter that is not a return address.
 *
 * Argument: milliseconds of CPU time, 1000.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

#include "work.h"

static volatile uint64_t sink;
static volatile sig_atomic_t done;
static unsigned budget;

static void
on_inner(int number)
{
    (void)number;
    sink += work_burn(budget);
    KEEP_FRAME();
}

static void
on_outer(int number)
{
    (void)number;
    raise(SIGUSR2);
    done = 1;
}

FRAME static void
spin_until_interrupted(void)
{
    while (!done)
        sink++;
}

int
main(int argc, char **argv)
{
    struct sigaction action;
    struct itimerval soon;

    budget = work_argument(argc, argv, 1, 1000);
    memset(&action, 0, sizeof action);
    action.sa_handler = on_outer;
    sigaction(SIGALRM, &action, NULL);
    action.sa_handler = on_inner;
    sigaction(SIGUSR2, &action, NULL);

    work_expect("main;spin_until_interrupted;(.*;)?on_outer;(.*;)?on_inner;"
                "work_burn");
    memset(&soon, 0, sizeof soon);
    soon.it_value.tv_usec = 1000;
    if (setitimer(ITIMER_REAL, &soon, NULL) != 0)
        work_fail("setitimer");
    spin_until_interrupted();
    puts("ok");
    return 0;
}
