/* SPDX-License-Identifier: MIT */
/*
 * hooks_send.c -- the functions by which a program sends signals to itself. The
 * control signal (agent/requests.h) is blocked in every thread. A thread that
 * waits for "all" signals does not get ours. So a program would never receive
 * this signal from itself. As soon as it sends it, the number is given back to
 * it.
 */
#include <signal.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/arch.h"
#include "base/phase.h"
#include "libc/real.h"
#include "signals/disposition.h"
#include "signals/signals.h"
#include "hook.h"

/* Whether SIGNO is one of our signals. The receiver is checked after that: most
 * signals cost no system call. */
static bool
is_used(int signo)
{
    return signo > 0 && signo < NSIG && phase_is_on() &&
           ((signals_closed() | signals_borrowed()) & signals_bit(signo)) != 0;
}

/* SIGNO is about to be sent within this process. If the program does not handle
 * SIGNO, the signal ends the program, or is blocked and waited for. */
static void
let_go(int signo)
{
    struct sigaction action;
    if (!is_used(signo) || !phase_is_own())
        return;
    uint64_t bit = signals_bit(signo);
    if ((signals_closed() & bit) != 0)
        disposition_release(SIGNALS_CONTROL);
    else if (disposition_get_program(signo, &action) &&
             action.sa_handler == SIG_DFL)
        (void)disposition_give_back(signo);
}

HOOK int
raise(int signo)
{
    let_go(signo);
    return REAL(raise)(signo);
}

HOOK int
gsignal(int signo)
{
    return raise(signo);
}

/* 0 is the process's group. */
static bool
is_own_group(pid_t group)
{
    return group == 0 || group == getpgrp();
}

/* A number that is not positive is a group, or all processes (-1). */
HOOK int
kill(pid_t pid, int signo)
{
    if (is_used(signo) &&
        (pid > 0 ? pid == phase_caller() : pid == -1 || is_own_group(-pid)))
        let_go(signo);
    return REAL(kill)(pid, signo);
}

HOOK int
killpg(pid_t group, int signo)
{
    if (is_used(signo) && is_own_group(group))
        let_go(signo);
    return REAL(killpg)(group, signo);
}

HOOK int
sigqueue(pid_t pid, int signo, const union sigval value)
{
    if (is_used(signo) && pid == phase_caller())
        let_go(signo);
    return REAL(sigqueue)(pid, signo, value);
}

HOOK int
pthread_kill(pthread_t thread, int signo)
{
    let_go(signo);
    return REAL(pthread_kill)(thread, signo);
}

HOOK_OLD(pthread_kill, "GLIBC_2.2.5");
HOOK int old_pthread_kill(pthread_t thread, int signo);
/* Returns ESRCH for a thread that has ended and was not joined. */
int
old_pthread_kill(pthread_t thread, int signo)
{
    let_go(signo);
    return REAL_OLD(pthread_kill)(thread, signo);
}

HOOK int
pthread_sigqueue(pthread_t thread, int signo, const union sigval value)
{
    let_go(signo);
    return REAL(pthread_sigqueue)(thread, signo, value);
}

HOOK int
tgkill(pid_t pid, pid_t tid, int signo)
{
    if (is_used(signo) && pid == phase_caller())
        let_go(signo);
    return REAL(tgkill)(pid, tid, signo);
}

/* Whether TID is a thread of the calling process. */
static bool
is_thread(long tid)
{
    return !phase_may_ask() ||
           arch_syscall(SYS_tgkill, phase_caller(), tid, 0, 0, 0, 0) == 0;
}

void
hook_send_by_number(long number, long a, long b, long c)
{
    bool has_thread = number == SYS_tgkill || number == SYS_rt_tgsigqueueinfo;
    if (has_thread || number == SYS_kill || number == SYS_rt_sigqueueinfo) {
        int signo = (int)(has_thread ? c : b);
        if (is_used(signo) && a == phase_caller())
            let_go(signo);
    } else if (number == SYS_tkill && is_used((int)b) && is_thread(a)) {
        let_go((int)b);
    }
}
