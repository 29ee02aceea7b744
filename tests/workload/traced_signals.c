/* SPDX-License-Identifier: MIT */
/*
 * traced_signals.c -- traces children that send themselves one signal each.
 * The tracer must see that signal and no other, and then the child's exit.
 *
 * Usage: traced_signals ROUNDS
 * Prints "ok", or what is wrong.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

/* The status with which a child ends. */
#define DONE 2

static void
send_to_itself(int signo)
{
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0 ||
        kill(getpid(), signo) != 0)
        exit(1);
    exit(DONE);
}

static bool
is_exit(int status)
{
    return WIFEXITED(status) && WEXITSTATUS(status) == DONE;
}

static bool
is_as_expected(int signo, int status, pid_t child)
{
    if (signo == 0)
        return is_exit(status);
    if (signo == SIGKILL)
        return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    if (!WIFSTOPPED(status) || WSTOPSIG(status) != signo)
        return false;
    /* Without the signal. */
    ptrace(PTRACE_CONT, child, NULL, NULL);
    return waitpid(child, &status, 0) == child && is_exit(status);
}

static bool
try(int signo)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0)
        send_to_itself(signo);
    waitpid(child, &status, 0);
    bool is_right = is_as_expected(signo, status, child);
    if (!is_right)
        printf("signal %d: first status %x\n", signo, (unsigned)status);
    kill(child, SIGKILL);
    while (waitpid(child, &status, 0) > 0)
        continue;
    return is_right;
}

int
main(int count, char **arguments)
{
    int rounds = count > 1 ? atoi(arguments[1]) : 1;
    bool is_right = true;
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int i = 0; i < rounds; i++)
        for (int signo = 0; signo <= SIGRTMAX; signo++)
            if (signo < 32 || signo >= SIGRTMIN)
                is_right = try(signo) && is_right;
    if (is_right)
        puts("ok");
    return 0;
}
