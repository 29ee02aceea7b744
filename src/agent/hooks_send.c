/* SPDX-License-Identifier: MIT */
/*
 * hooks_send.c -- the functions by which a program sends signals to itself. The
 * number that carries requests (control.h) is blocked in all its threads, and
 * who waits for all signals does not wait for those that are ours: one that the
 * program sends would not come. So who sends it has it for himself from then
 * on.
 */
#include <signal.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/arch.h"
#include "base/phase.h"
#include "base/sys.h"
#include "capture/signals.h"
#include "control.h"
#include "hook.h"
#include "real.h"

/* SIGNO is about to be sent within this process. One that the program does not
 * handle ends it, or is blocked, and somebody waits for it. */
static void
let_go(int signo)
{
    struct sigaction action;
    if (signo <= 0 || signo >= NSIG || !phase_is_on())
        return;
    uint64_t bit = signals_bit(signo);
    if (((signals_closed() | signals_borrowed()) & bit) == 0 || !phase_is_own())
        return;
    if ((signals_closed() & bit) != 0)
        control_release();
    else if (signals_get_program(signo, &action) &&
             action.sa_handler == SIG_DFL)
        (void)signals_give_back(signo);
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

/* What is not positive is a group, or all processes (-1). */
HOOK int
kill(pid_t pid, int signo)
{
    if (pid > 0 ? pid == sys_getpid() : pid == -1 || is_own_group(-pid))
        let_go(signo);
    return REAL(kill)(pid, signo);
}

HOOK int
killpg(pid_t group, int signo)
{
    if (is_own_group(group))
        let_go(signo);
    return REAL(killpg)(group, signo);
}

HOOK int
sigqueue(pid_t pid, int signo, const union sigval value)
{
    if (pid == sys_getpid())
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
/* ESRCH for a thread that has ended and was not joined. */
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
    if (pid == sys_getpid())
        let_go(signo);
    return REAL(tgkill)(pid, tid, signo);
}

void
hook_send_by_number(long number, long a, long b, long c)
{
    bool has_thread = number == SYS_tgkill || number == SYS_rt_tgsigqueueinfo;
    if (has_thread || number == SYS_kill || number == SYS_rt_sigqueueinfo) {
        if (a == sys_getpid())
            let_go((int)(has_thread ? c : b));
    } else if (number == SYS_tkill &&
               arch_syscall(SYS_tgkill, sys_getpid(), a, 0, 0, 0, 0) == 0) {
        let_go((int)b);
    }
}
