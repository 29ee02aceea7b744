/* SPDX-License-Identifier: MIT */
/*
 * bad_pointers.c -- a program that hands the kernel addresses where nothing is,
 * through functions that a profiler hooks. The kernel says EFAULT, or names
 * another error that it finds first. The library must not look there before the
 * kernel does. Arguments: traps.h.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "by_number.h"
#include "traps.h"
#include "work.h"

/* Hidden from what the compiler knows of its arguments. */
static void *volatile nowhere;
static void *volatile nothing;

static void
tell(const char *what, long result)
{
    printf("%s: %ld %s\n", what, result, result < 0 ? strerror(errno) : "");
}

static void
masks_at(const sigset_t *set)
{
    struct timespec now = {0, 0};
    struct epoll_event event;
    int queue = epoll_create1(0);
    tell("ppoll", ppoll(NULL, 0, &now, set));
    tell("pselect", pselect(0, NULL, NULL, NULL, &now, set));
    tell("epoll_pwait", epoll_pwait(queue, &event, 1, 0, set));
    tell("no queue", epoll_pwait(-1, &event, 1, 0, set));
    close(queue);
}

static void
masks(void)
{
    masks_at(nowhere);
    masks_at(nothing);
    tell("sigsuspend", sigsuspend(nowhere));
}

static void
sets_at(const sigset_t *set)
{
    int number = 0;
    tell("sigtimedwait", sigtimedwait(set, NULL, NULL));
    tell("sigwaitinfo", sigwaitinfo(set, NULL));
    tell("sigwait", sigwait(set, &number));
    tell("signalfd", signalfd(-1, set, 0));
    tell("flags", signalfd(-1, set, -1));
}

/* Where a call describes a signal, and until when it waits for one. */
static void
answers(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    tell("timeout", sigtimedwait(&set, NULL, nowhere));
    raise(SIGUSR1);
    tell("info", sigwaitinfo(&set, nowhere));
    tell("gone", sigtimedwait(&set, NULL, &(struct timespec){0, 0}));
    raise(SIGUSR1);
    tell("none wanted", sigwaitinfo(&set, NULL));
}

static void
sets(void)
{
    sets_at(nowhere);
    sets_at(nothing);
    answers();
}

static void
by_number_at(const sigset_t *set)
{
    struct timespec now = {0, 0};
    struct epoll_event event;
    int queue = epoll_create1(0);
    tell("ppoll", number_ppoll(NULL, 0, &now, set));
    tell("pselect", number_pselect(0, NULL, &now, set));
    tell("epoll_pwait", number_epoll_pwait(queue, &event, 1, 0, set));
    tell("no queue", number_epoll_pwait(-1, &event, 1, 0, set));
    tell("epoll_pwait2", number_epoll_pwait2(queue, &event, 1, &now, set));
    tell("sigsuspend", number_sigsuspend(set));
    tell("sigtimedwait", number_sigtimedwait(set, NULL, NULL));
    tell("signalfd", number_signalfd(-1, set, 0));
    tell("flags", number_signalfd(-1, set, -1));
    tell("sigmask", number_sigmask(SIG_BLOCK, set, NULL));
    close(queue);
}

/* Sets of sizes that the kernel does not know. */
static void
sizes(long size)
{
    struct timespec now = {0, 0};
    sigset_t set;
    sigemptyset(&set);
    tell("ppoll", syscall(SYS_ppoll, NULL, 0, &now, &set, size));
    tell("pselect", syscall(SYS_pselect6, 0, NULL, NULL, NULL, &now,
                            (const void *[]){&set, (void *)size}));
    tell("sigsuspend", syscall(SYS_rt_sigsuspend, &set, size));
    tell("sigtimedwait", syscall(SYS_rt_sigtimedwait, &set, NULL, &now, size));
    tell("signalfd", syscall(SYS_signalfd4, -1, &set, size, -1));
    tell("sigmask", syscall(SYS_rt_sigprocmask, SIG_BLOCK, &set, NULL, size));
}

static void
by_number(void)
{
    struct timespec now = {0, 0};
    sigset_t set;
    by_number_at(nowhere);
    by_number_at(nothing);
    sizes(0);
    sizes(sizeof(sigset_t));
    tell("set behind",
         syscall(SYS_pselect6, 0, NULL, NULL, NULL, &now, nowhere));
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    tell("timeout", number_sigtimedwait(&set, NULL, nowhere));
    raise(SIGUSR1);
    tell("info", number_sigtimedwait(&set, nowhere, NULL));
    tell("gone", number_sigtimedwait(&set, NULL, &now));
}

static void
execs(void)
{
    char *words[] = {(char *)"true", NULL};
    tell("path", execve(nowhere, words, environ));
    tell("no path", execve(nothing, words, environ));
    tell("arguments", execve("/bin/true", nowhere, environ));
    tell("environment", execve("/bin/true", words, nowhere));
    tell("execv", execv(nowhere, words));
    tell("fexecve", fexecve(-1, words, nowhere));
}

static const struct trap traps[] = {{"masks", masks},
                                    {"sets", sets},
                                    {"by_number", by_number},
                                    {"execs", execs},
                                    {NULL, NULL}};

int
main(int argc, char **argv)
{
    nowhere = (void *)~0xfffful;
    return traps_run(argc, argv, traps);
}
