/* SPDX-License-Identifier: MIT */
/*
 * deliver.c -- see deliver.h. Runs in handlers.
 */
#include <linux/errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/arch.h"
#include "base/sys.h"
#include "base/words.h"
#include "deliver.h"
#include "interrupted.h"
#include "settle.h"
#include "signals.h"
#include "poison.h"

/* The program's disposition is the default one: let it act. The handler must
 * give way for that; the process ends here. */
static void
die_by_default(int signo)
{
    signals_make_default(signo);
    arch_syscall(SYS_tgkill, sys_getpid(), sys_gettid(), signo, 0, 0, 0);
}

/* Run the program's handler with the mask that the kernel would have given it;
 * the return from our own handler restores the old one. */
static void
call_program(const struct sigaction *action, int signo, siginfo_t *info,
             ucontext_t *context)
{
    uint64_t mask =
        signals_word(&context->uc_sigmask) | signals_word(&action->sa_mask);
    if ((action->sa_flags & SA_NODEFER) == 0)
        mask |= signals_bit(signo);
    arch_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask, 0, sizeof(mask),
                 0, 0);
    if ((action->sa_flags & SA_RESTART) == 0)
        interrupted_end_call(context);
    if (action->sa_flags & SA_SIGINFO)
        action->sa_sigaction(signo, info, context);
    else
        action->sa_handler(signo);
}

/* Whether the kernel raised it for an instruction of the thread: such a signal
 * can be neither ignored nor held back (signal(7)). */
static bool
is_fault(int signo, const siginfo_t *info)
{
    return signo == SIGTRAP && info->si_code > 0 &&
           info->si_code != SIGNALS_PERF_CODE;
}

/* Take one of ours from the thread's queue, where it would swallow a signal of
 * the program's. The handler runs with all signals blocked. */
static void
drain(uint64_t bit)
{
    static const struct timespec at_once;
    siginfo_t unused;
    arch_syscall(SYS_rt_sigtimedwait, (long)&bit, (long)&unused, (long)&at_once,
                 sizeof(bit), 0, 0);
}

/* To any thread of the process that does not block it. Only the main thread may
 * say who sent it (rt_sigqueueinfo(2)); else it is we. */
static void
send_to_process(int signo, siginfo_t *info)
{
    pid_t pid = sys_getpid();
    if (arch_syscall(SYS_rt_sigqueueinfo, pid, signo, (long)info, 0, 0, 0) ==
        -EPERM)
        arch_syscall(SYS_kill, pid, signo, 0, 0, 0, 0);
}

/* The thread blocks the number, as the program believes: now it does so for
 * real, and the signal is sent again, to whom it was sent. */
static void
send_again(int signo, siginfo_t *info, ucontext_t *context)
{
    uint64_t bit = signals_bit(signo);
    if (signals_give_back(signo))
        drain(bit);
    signals_set_word(&context->uc_sigmask,
                     signals_word(&context->uc_sigmask) | bit);
    if (info->si_code == SI_TKILL)
        arch_syscall(SYS_rt_tgsigqueueinfo, sys_getpid(), sys_gettid(), signo,
                     (long)info, 0, 0);
    else
        send_to_process(signo, info);
}

void
deliver_to_program(int signo, siginfo_t *info, ucontext_t *context)
{
    struct sigaction action;
    if (!signals_get_program(signo, &action))
        return;
    bool fault = is_fault(signo, info);
    /* What the mask was: uc_sigmask is not it in a sigsuspend. */
    bool is_blocked =
        words_are_there() && (signals_blocked & signals_bit(signo)) != 0;
    settle_in(context);
    if (is_blocked && !fault) {
        send_again(signo, info, context);
        interrupted_in_vain(context);
        return;
    }
    if (action.sa_handler == SIG_IGN && !fault)
        return;
    if (action.sa_handler == SIG_IGN || is_blocked) {
        die_by_default(signo);
    } else if (action.sa_handler != SIG_DFL) {
        if (action.sa_flags & (int)SA_RESETHAND)
            signals_reset_program(signo);
        call_program(&action, signo, info, context);
    } else if (signo != SIGURG && signo != SIGCHLD && signo != SIGWINCH) {
        die_by_default(signo);
    }
}
