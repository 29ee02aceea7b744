/* SPDX-License-Identifier: MIT */
/*
 * deliver.c -- see deliver.h. Runs in handlers.
 */
#include <linux/errno.h>
#include <linux/io_uring.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/arch.h"
#include "base/sys.h"
#include "deliver.h"
#include "signals.h"
#include "poison.h"

/* siginfo of a perf event's signal (sigaction(2), TRAP_PERF, Linux 5.13), which
 * older C libraries do not declare. */
#define TRAP_PERF_CODE 6

/* So much code before a system call is searched for its number. */
#define RING_CODE 64

__thread volatile struct deliver_wait deliver_wait;
__thread volatile long deliver_last_call;

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
           info->si_code != TRAP_PERF_CODE;
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
    bool is_blocked = (signals_blocked & signals_bit(signo)) != 0;
    signals_settle_in(context);
    if (is_blocked && !fault) {
        send_again(signo, info, context);
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

/* The next of the program's signals that will be delivered under MASK, 0 if
 * none is pending. */
static int
next_pending(uint64_t mask)
{
    uint64_t pending = 0;
    if (arch_syscall(SYS_rt_sigpending, (long)&pending, sizeof(pending), 0, 0,
                     0, 0) != 0)
        return 0;
    pending &= ~mask & ~signals_borrowed();
    return pending != 0 ? __builtin_ctzll(pending) + 1 : 0;
}

static void
resume_wait(ucontext_t *context)
{
    uint64_t mask = deliver_wait.mask & ~signals_borrowed();
    if (next_pending(mask) == 0)
        return;
    deliver_wait.original = signals_word(&context->uc_sigmask);
    deliver_wait.is_left = true;
    signals_set_word(&context->uc_sigmask, mask);
}

/* Whether the kernel is about to make a system call again that a signal ended:
 * the pc is on the instruction, which has left its address behind in rcx. A
 * fork is begun again whatever handlers say. */
static bool
is_restarting(const greg_t *registers)
{
    const uint8_t *code = (const uint8_t *)registers[REG_RIP];
    greg_t call = registers[REG_RAX];
    return registers[REG_RCX] == registers[REG_RIP] + 2 && code[0] == 0x0f &&
           code[1] == 0x05 && call != SYS_clone && call != SYS_clone3 &&
           call != SYS_fork && call != SYS_vfork;
}

/* Whether the program's handler of SIGNO ends system calls. */
static bool
interrupts(int signo)
{
    struct sys_action now;
    return sys_get_action(signo, &now) == 0 && now.handler != (void *)SIG_DFL &&
           now.handler != (void *)SIG_IGN && (now.flags & SA_RESTART) == 0;
}

static void
end_call(ucontext_t *context)
{
    greg_t *registers = context->uc_mcontext.gregs;
    int signo = next_pending(signals_word(&context->uc_sigmask));
    if (signo == 0 || !interrupts(signo))
        return;
    registers[REG_RAX] = -(greg_t)EINTR;
    registers[REG_RIP] += 2;
}

/* Whether the call in front of PC is io_uring_enter: its number is gone from
 * the registers, but the code puts it there ("mov $426, %eax"), or it is
 * syscall(2), which has it from the program ("mov 8(%rsp), %r9" is the last it
 * does). */
static bool
is_ring_enter(uint64_t pc)
{
    static const uint8_t call[] = {0x0f, 0x05};
    static const uint8_t by_number[] = {0xb8, 0xaa, 0x01, 0x00, 0x00};
    static const uint8_t by_argument[] = {0x4c, 0x8b, 0x4c, 0x24, 0x08};
    uint8_t code[RING_CODE];
    if (sys_read_memory(code, pc - RING_CODE, RING_CODE) != RING_CODE)
        return false;
    const uint8_t *at = code + RING_CODE - sizeof(call);
    if (memcmp(at, call, sizeof(call)) != 0)
        return false;
    at -= sizeof(by_argument);
    if (memcmp(at, by_argument, sizeof(by_argument)) == 0)
        return deliver_last_call == SYS_io_uring_enter;
    for (; at >= code && memcmp(at, call, sizeof(call)) != 0; at--)
        if (memcmp(at, by_number, sizeof(by_number)) == 0)
            return true;
    return false;
}

/* Before io_uring_enter waits it runs what the kernel has put off until the way
 * back to user mode, and that is where a sample taken in the kernel becomes a
 * signal; then it does not wait. If nothing is there for the program, it shall
 * not know: the call is made again, as it has done nothing yet. */
static void
repeat_ring_wait(ucontext_t *context)
{
    greg_t *registers = context->uc_mcontext.gregs;
    if (registers[REG_RCX] != registers[REG_RIP] ||
        (registers[REG_R10] & IORING_ENTER_GETEVENTS) == 0 ||
        !is_ring_enter((uint64_t)registers[REG_RIP]) ||
        next_pending(signals_word(&context->uc_sigmask)) != 0)
        return;
    registers[REG_RAX] = SYS_io_uring_enter;
    registers[REG_RIP] -= 2;
}

void
deliver_after_ours(ucontext_t *context)
{
    const greg_t *registers = context->uc_mcontext.gregs;
    bool was_ended = registers[REG_RAX] == -(greg_t)EINTR;
    if (was_ended && deliver_wait.is_on)
        resume_wait(context);
    else if (was_ended)
        repeat_ring_wait(context);
    else if (is_restarting(registers))
        end_call(context);
}
