/* SPDX-License-Identifier: MIT */
/*
 * deliver.c -- see deliver.h. It runs in handlers.
 */
#include <linux/errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/sys.h"
#include "base/words.h"
#include "disposition.h"
#include "mask_sync.h"
#include "restart.h"
#include "deliver.h"
#include "base/poison.h"

/* Let the default action of SIGNO act, as the program's disposition says. Our
 * handler must give way for that. The process ends here. */
static void
die_by_default(int signo)
{
    disposition_make_default(signo);
    sys_call(SYS_tgkill, sys_getpid(), sys_gettid(), signo);
}

/* Run the program's handler with the mask that the kernel would have given it.
 * The return from our handler restores the old mask. */
static void
call_program(const struct sigaction *action, int signo, siginfo_t *info,
             ucontext_t *context)
{
    uint64_t mask =
        signals_word(&context->uc_sigmask) | signals_word(&action->sa_mask);
    if ((action->sa_flags & SA_NODEFER) == 0)
        mask |= signals_bit(signo);
    sys_mask(SIG_SETMASK, mask, NULL);
    if ((action->sa_flags & SA_RESTART) == 0)
        restart_end_call(context);
    if (action->sa_flags & SA_SIGINFO)
        action->sa_sigaction(signo, info, context);
    else
        action->sa_handler(signo);
}

/* Whether the kernel raised the signal for an instruction of the thread. Such a
 * signal can be neither ignored nor held back (signal(7)). */
static bool
is_fault(int signo, const siginfo_t *info)
{
    return signo == SIGTRAP && info->si_code > 0 &&
           info->si_code != SIGNALS_PERF_CODE;
}

/* Take our signal from the thread's queue, where it would swallow a signal of
 * the program. The handler runs with all signals blocked. */
static void
drain_ours(uint64_t bit)
{
    static const struct timespec at_once;
    siginfo_t unused;
    sys_call(SYS_rt_sigtimedwait, &bit, &unused, &at_once, sizeof(bit));
}

/* Send SIGNO to any thread of the process that does not block it. Only the main
 * thread may name another sender (rt_sigqueueinfo(2)). From other threads this
 * process is the sender. */
static void
send_to_process(int signo, siginfo_t *info)
{
    pid_t pid = sys_getpid();
    if (sys_call(SYS_rt_sigqueueinfo, pid, signo, info) == -EPERM)
        sys_call(SYS_kill, pid, signo);
}

/* The thread blocks the number, as the program believes. Make it really
 * blocked, and send the signal again to the same receiver. */
static void
send_again(int signo, siginfo_t *info, ucontext_t *context)
{
    uint64_t bit = signals_bit(signo);
    if (disposition_give_back(signo))
        drain_ours(bit);
    signals_set_word(&context->uc_sigmask,
                     signals_word(&context->uc_sigmask) | bit);
    if (info->si_code == SI_TKILL)
        sys_call(SYS_rt_tgsigqueueinfo, sys_getpid(), sys_gettid(), signo,
                 info);
    else
        send_to_process(signo, info);
}

void
deliver_to_program(int signo, siginfo_t *info, ucontext_t *context)
{
    struct sigaction action;
    if (!disposition_get_program(signo, &action))
        return;
    bool fault = is_fault(signo, info);
    /* Whether the thread blocked it: uc_sigmask does not tell in a sigsuspend.
     */
    bool is_blocked =
        words_are_there() && (signals_blocked & signals_bit(signo)) != 0;
    mask_sync_in(context);
    if (is_blocked && !fault) {
        send_again(signo, info, context);
        restart_after_blocked(context);
        return;
    }
    if (action.sa_handler == SIG_IGN && !fault)
        return;
    if (action.sa_handler == SIG_IGN || is_blocked) {
        die_by_default(signo);
    } else if (action.sa_handler != SIG_DFL) {
        if (action.sa_flags & (int)SA_RESETHAND)
            disposition_reset_program(signo);
        call_program(&action, signo, info, context);
    } else if (signo != SIGURG && signo != SIGCHLD && signo != SIGWINCH) {
        die_by_default(signo);
    }
}
