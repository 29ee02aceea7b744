/* SPDX-License-Identifier: MIT */
/*
 * restart.c -- see restart.h. It runs in handlers.
 */
#include <linux/errno.h>
#include <linux/io_uring.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/arch.h"
#include "base/hot.h"
#include "base/sys.h"
#include "base/words.h"
#include "signals.h"
#include "restart.h"
#include "base/poison.h"

/* Limit of the stack between a hook and the system call that it leads to, in
 * bytes. The frame of a handler takes more. */
#define WAIT_FRAMES 1024

__thread volatile struct restart_wait restart_wait;
__thread volatile long restart_last_call;

/* The program's signal that will be delivered next under MASK, or 0 if none is
 * pending. */
static int
next_pending(uint64_t mask)
{
    uint64_t pending = 0;
    if (sys_call(SYS_rt_sigpending, &pending, sizeof(pending)) != 0)
        return 0;
    pending &= ~mask & ~signals_borrowed();
    return pending != 0 ? __builtin_ctzll(pending) + 1 : 0;
}

/* Whether CONTEXT is in the wait itself. It may be in a handler on top of the
 * wait, or after a wait that a handler left by siglongjmp. */
static bool
is_in_wait(const ucontext_t *context)
{
    return words_are_there() && restart_wait.is_on &&
           restart_wait.stack - arch_register(context, ARCH_SP) < WAIT_FRAMES;
}

static void
resume_wait(ucontext_t *context)
{
    uint64_t mask = restart_wait.mask & ~signals_borrowed();
    if (next_pending(mask) == 0)
        return;
    /* Our second signal, before the program's is delivered, finds the mask of
     * the wait. */
    if (!restart_wait.is_left)
        restart_wait.original = signals_word(&context->uc_sigmask);
    restart_wait.is_left = true;
    signals_set_word(&context->uc_sigmask, mask);
}

/* Whether the kernel is about to make a system call again that a signal ended.
 * A fork is begun again, whatever the handlers' flags are. */
static bool
is_restarting(const ucontext_t *context)
{
    long call = (long)arch_register(context, ARCH_NUMBER);
    return arch_is_restarting(context) && call != SYS_clone &&
           call != SYS_clone3 && call != ARCH_CALL_FORK &&
           call != ARCH_CALL_VFORK;
}

/* Whether the program's handler of SIGNO ends system calls. */
static bool
ends_calls(int signo)
{
    struct sys_action now;
    return sys_get_action(signo, &now) == 0 && now.handler != (void *)SIG_DFL &&
           now.handler != (void *)SIG_IGN && (now.flags & SA_RESTART) == 0;
}

void
restart_end_call(ucontext_t *context)
{
    if (is_restarting(context))
        arch_end_call(context);
}

/* End the call if a signal of the program is pending that ends calls. */
static void
end_call_for_next(ucontext_t *context)
{
    int signo = next_pending(signals_word(&context->uc_sigmask));
    if (signo != 0 && ends_calls(signo))
        restart_end_call(context);
}

/* Whether CONTEXT is right after a system call that has ended with EINTR. */
static bool
is_behind_ended(const ucontext_t *context)
{
    return arch_register(context, ARCH_RESULT) == (uint64_t)-EINTR &&
           arch_is_behind_call(context);
}

/* The number of the call that CONTEXT has just made, or -1 if it is not
 * known. */
static long
number_of_call(const ucontext_t *context)
{
    long number = arch_call_before(arch_register(context, ARCH_PC));
    if (number == ARCH_CALL_GIVEN)
        return words_are_there() ? restart_last_call : ARCH_CALL_UNKNOWN;
    return number;
}

/* Make io_uring_enter again if only our signal ended it. Before it waits, it
 * runs work that the kernel has delayed until the way back to user mode. There
 * a sample in the kernel becomes a signal, and then the call does not wait.
 * Without a signal for the program, the program must not notice. The call has
 * done nothing yet. */
static void
repeat_ring_wait(ucontext_t *context)
{
    if (arch_is_behind_call(context) &&
        (arch_register(context, arch_argument(3)) & IORING_ENTER_GETEVENTS) !=
            0 &&
        number_of_call(context) == SYS_io_uring_enter &&
        next_pending(signals_word(&context->uc_sigmask)) == 0)
        arch_repeat_call(context, SYS_io_uring_enter);
}

/* If CONTEXT has just made one of CALLS, make that call again. */
static void
repeat_one_of(ucontext_t *context, const long *calls, size_t count)
{
    long number = number_of_call(context);
    for (size_t i = 0; i < count; i++)
        if (number == calls[i])
            arch_repeat_call(context, number);
}

void
restart_after_blocked(ucontext_t *context)
{
    static const long waits[] = {ARCH_CALL_POLL,       SYS_ppoll,
                                 ARCH_CALL_EPOLL_WAIT, SYS_epoll_pwait,
                                 ARCH_CALL_SELECT,     SYS_pselect6,
                                 ARCH_CALL_PAUSE};
    if (is_behind_ended(context) && !is_in_wait(context) &&
        next_pending(signals_word(&context->uc_sigmask)) == 0)
        repeat_one_of(context, waits, sizeof(waits) / sizeof(waits[0]));
}

/* A call that returns EINTR has done nothing yet. Three kinds of calls are not
 * in the list. connect(2) goes on by itself. close(2) has closed. A wait under
 * a mask of its own has put the mask back. A sleep begins anew. */
void
restart_for_another(ucontext_t *context)
{
    static const long calls[] = {SYS_read,         SYS_write,
                                 SYS_readv,        SYS_writev,
                                 SYS_recvfrom,     SYS_recvmsg,
                                 SYS_sendto,       SYS_sendmsg,
                                 SYS_accept,       SYS_accept4,
                                 SYS_futex,        ARCH_CALL_POLL,
                                 ARCH_CALL_SELECT, ARCH_CALL_EPOLL_WAIT,
                                 SYS_wait4,        SYS_waitid,
                                 SYS_nanosleep,    SYS_clock_nanosleep,
                                 SYS_flock,        SYS_fcntl,
                                 SYS_semop,        SYS_semtimedop,
                                 SYS_msgrcv,       SYS_msgsnd,
                                 SYS_mq_timedsend, SYS_mq_timedreceive,
                                 ARCH_CALL_PAUSE,  ARCH_CALL_OPEN,
                                 SYS_openat,       SYS_rt_sigtimedwait,
                                 SYS_recvmmsg,     SYS_sendmmsg};
    if (is_behind_ended(context) && !is_in_wait(context))
        repeat_one_of(context, calls, sizeof(calls) / sizeof(calls[0]));
}

HOT void
restart_after_ours(ucontext_t *context)
{
    bool was_ended = arch_register(context, ARCH_RESULT) == (uint64_t)-EINTR;
    if (was_ended && is_in_wait(context))
        resume_wait(context);
    else if (was_ended)
        repeat_ring_wait(context);
    else if (is_restarting(context))
        end_call_for_next(context);
}
