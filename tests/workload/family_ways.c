/* SPDX-License-Identifier: MIT */
/*
 * family_ways.c -- children to whom somebody stands in a special relation: a
 * tracer, an adopter, the kernel with a signal for orphans, a namespace.
 *
 * Argument: a word of the table at the end.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ways.h"

static void
traced(void)
{
    int status;
    pid_t child = fork();

    if (child == 0) {
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        raise(SIGSTOP);
        ways_compute(30);
        raise(SIGUSR2);
        exit(6);
    }
    /* Only stops that the child asked for: a tracer sees signals of ours, and
     * hands them on, as every tracer does. */
    while (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
        int signo = WSTOPSIG(status);

        if (signo != SIGPROF && signo != SIGTRAP)
            printf("stopped by %d\n", signo);
        ptrace(PTRACE_CONT, child, 0,
               signo == SIGSTOP || signo == SIGUSR2 ? 0 : signo);
    }
    printf("ended with %d\n", WEXITSTATUS(status));
}

/* The child gets a signal when the thread that made it ends, not before. */
static void *
make_orphan(void *argument)
{
    pid_t *child = argument;
    int ends[2];
    char byte;

    if (pipe(ends) != 0)
        work_fail("pipe");
    if ((*child = fork()) == 0) {
        prctl(PR_SET_PDEATHSIG, SIGUSR2);
        if (write(ends[1], "", 1) != 1)
            _exit(90);
        for (;;)
            pause();
    }
    /* From now on the signal is asked for. */
    if (read(ends[0], &byte, 1) != 1)
        puts("the child said nothing");
    close(ends[0]);
    close(ends[1]);
    ways_compute(50);
    if (waitpid(*child, NULL, WNOHANG) != 0)
        puts("the child ended early");
    return NULL;
}

static void
dies_with_thread(void)
{
    pthread_t thread;
    pid_t child;

    pthread_create(&thread, NULL, make_orphan, &child);
    pthread_join(thread, NULL);
    ways_say_end(child);
}

/* Orphans come to us; the profiler's own helpers must not. */
static void
adopting(void)
{
    int status;

    prctl(PR_SET_CHILD_SUBREAPER, 1);
    for (unsigned i = 0; i < 5; i++) {
        unsigned ended = 0;

        if (fork() == 0) {
            if (fork() == 0) {
                ways_compute(10);
                exit(0);
            }
            exit(0);
        }
        while (waitpid(-1, &status, 0) > 0)
            ended++;
        printf("%u ended\n", ended);
    }
}

/* /proc/self belongs to root then. */
static void
undumpable(void)
{
    prctl(PR_SET_DUMPABLE, 0);
    ways_compute(100);
    for (unsigned i = 0; i < 3; i++) {
        pid_t child = fork();

        if (child == 0) {
            ways_use_libc();
            ways_compute(20);
            exit(8);
        }
        ways_say_end(child);
    }
}

/* The next child is process 1 of a namespace, under the /proc of this one. */
static void
new_namespace(void)
{
    pid_t child;

    if (unshare(CLONE_NEWPID) != 0) {
        puts("no right to make a namespace");
        return;
    }
    child = fork();
    if (child == 0) {
        printf("pid %d\n", getpid());
        ways_use_libc();
        ways_compute(50);
        if ((child = fork()) == 0)
            exit(3);
        ways_say_end(child);
        exit(4);
    }
    ways_say_end(child);
}

static const struct way ways[] = {
    {"traced", traced, 0},           {"pdeathsig", dies_with_thread, 0},
    {"subreaper", adopting, 0},      {"undumpable", undumpable, 0},
    {"namespace", new_namespace, 0},
};

int
main(int argc, char **argv)
{
    return ways_run(argc, argv, ways, sizeof ways / sizeof ways[0]);
}
