/* SPDX-License-Identifier: MIT */
/*
 * own_sigprof.c -- a program that profiles itself the old way: its own SIGPROF
 * handler and ITIMER_PROF. The program must see its own signals, at its own
 * rate, and none of the library. sigaction must return the handler that the
 * program installed.
 *
 * Arguments: milliseconds of CPU time, 1000; milliseconds between signals, 20.
 * Prints the count on stderr. It is checked where it does not depend on the
 * kernel's tick.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#include "work.h"

static volatile sig_atomic_t own, foreign;
static volatile uint64_t sink;

static void
on_sigprof(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    if (info->si_code == SI_KERNEL || info->si_code == SI_TIMER)
        own++;
    else
        foreign++;
}

static double
cpu_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* Compute for MS milliseconds of CPU time. Returns how many of them passed
 * while the CPU was there: the clock of a virtual one that its host takes away
 * goes on, in one step, and the kernel looks at the timer once. */
static double
burn(unsigned ms)
{
    double begin = cpu_ms(), before = begin, smooth = 0;

    while (before - begin < ms) {
        sink += work_burn(1);
        double now = cpu_ms();
        if (now - before < 10)
            smooth += now - before;
        before = now;
    }
    return smooth;
}

int
main(int argc, char **argv)
{
    unsigned ms = work_argument(argc, argv, 1, 1000);
    unsigned period = work_argument(argc, argv, 2, 20);
    struct itimerval every = {{0, period * 1000}, {0, period * 1000}};
    struct sigaction action, seen;

    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_sigprof;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    if (sigaction(SIGPROF, &action, NULL) != 0 ||
        sigaction(SIGPROF, NULL, &seen) != 0)
        work_fail("sigaction");
    if (seen.sa_sigaction != on_sigprof)
        work_fail("sigaction gave back another handler");
    if (setitimer(ITIMER_PROF, &every, NULL) != 0)
        work_fail("setitimer");
    double smooth = burn(ms);
    memset(&every, 0, sizeof every);
    setitimer(ITIMER_PROF, &every, NULL);

    fprintf(stderr, "own: %d in %.0f of %u ms\n", (int)own, smooth, ms);
    if (foreign != 0)
        work_fail("a signal arrived that the program did not ask for");
    /* A machine that stands still merges some of them. */
    if (period >= 20 && own < smooth / (5 * period))
        work_fail("signals of the program's own timer were lost");
    puts("ok");
    return 0;
}
