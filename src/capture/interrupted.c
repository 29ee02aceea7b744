/* SPDX-License-Identifier: MIT */
/*
 * interrupted.c -- see interrupted.h. Runs in handlers.
 */
#include <linux/errno.h>
#include <linux/io_uring.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/arch.h"
#include "base/sys.h"
#include "base/words.h"
#include "interrupted.h"
#include "signals.h"
#include "poison.h"

/* So much stack may lie between a hook and the system call that it leads to;
 * the frame of a handler takes more. */
#define WAIT_FRAMES 1024

/* So much code before a system call is searched for its number, which "mov
 * $NUMBER, %eax" sets. */
#define CODE_BEFORE 64
#define MOVE_TO_EAX 0xb8

__thread volatile struct interrupted_wait interrupted_wait;
__thread volatile long interrupted_last_call;

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

/* Whether CONTEXT stands in the wait itself, not in a handler that came on top
 * of it, nor behind a wait that a handler left by siglongjmp. */
static bool
is_in_wait(const ucontext_t *context)
{
    uint64_t sp = (uint64_t)context->uc_mcontext.gregs[REG_RSP];
    return words_are_there() && interrupted_wait.is_on &&
           interrupted_wait.stack - sp < WAIT_FRAMES;
}

static void
resume_wait(ucontext_t *context)
{
    uint64_t mask = interrupted_wait.mask & ~signals_borrowed();
    if (next_pending(mask) == 0)
        return;
    /* A second one of ours, before the program's was delivered, finds the mask
     * of the wait. */
    if (!interrupted_wait.is_left)
        interrupted_wait.original = signals_word(&context->uc_sigmask);
    interrupted_wait.is_left = true;
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

void
interrupted_end_call(ucontext_t *context)
{
    greg_t *registers = context->uc_mcontext.gregs;
    if (!is_restarting(registers))
        return;
    registers[REG_RAX] = -(greg_t)EINTR;
    registers[REG_RIP] += 2;
}

/* For a signal of the program's that is pending. */
static void
end_call_for_next(ucontext_t *context)
{
    int signo = next_pending(signals_word(&context->uc_sigmask));
    if (signo != 0 && interrupts(signo))
        interrupted_end_call(context);
}

/* The number of the call in front of PC, -1 if it cannot be told: it is gone
 * from the registers, but the code puts it there ("mov $426, %eax"), or it is
 * syscall(2), which has it from the program ("mov 8(%rsp), %r9" is the last it
 * does). */
static long
number_of_call(uint64_t pc)
{
    static const uint8_t call[] = {0x0f, 0x05};
    static const uint8_t by_argument[] = {0x4c, 0x8b, 0x4c, 0x24, 0x08};
    uint8_t code[CODE_BEFORE];
    int32_t number;
    if (sys_read_memory(code, pc - CODE_BEFORE, CODE_BEFORE) != CODE_BEFORE)
        return -1;
    const uint8_t *at = code + CODE_BEFORE - sizeof(call);
    if (memcmp(at, call, sizeof(call)) != 0)
        return -1;
    at -= sizeof(by_argument);
    if (memcmp(at, by_argument, sizeof(by_argument)) == 0)
        return words_are_there() ? interrupted_last_call : -1;
    for (; at >= code && memcmp(at, call, sizeof(call)) != 0; at--)
        if (*at == MOVE_TO_EAX) {
            memcpy(&number, at + 1, sizeof(number));
            return number;
        }
    return -1;
}

/* The call that has just ended with EINTR is made again. */
static void
make_again(ucontext_t *context, long number)
{
    context->uc_mcontext.gregs[REG_RAX] = number;
    context->uc_mcontext.gregs[REG_RIP] -= 2;
}

/* Whether the instruction before the pc is a system call: it has left its
 * address in rcx. */
static bool
is_behind_call(const ucontext_t *context)
{
    const greg_t *registers = context->uc_mcontext.gregs;
    return registers[REG_RCX] == registers[REG_RIP];
}

/* Before io_uring_enter waits it runs what the kernel has put off until the way
 * back to user mode, and that is where a sample taken in the kernel becomes a
 * signal; then it does not wait. If nothing is there for the program, it shall
 * not know: the call is made again, as it has done nothing yet. */
static void
repeat_ring_wait(ucontext_t *context)
{
    const greg_t *registers = context->uc_mcontext.gregs;
    if (is_behind_call(context) &&
        (registers[REG_R10] & IORING_ENTER_GETEVENTS) != 0 &&
        number_of_call((uint64_t)registers[REG_RIP]) == SYS_io_uring_enter &&
        next_pending(signals_word(&context->uc_sigmask)) == 0)
        make_again(context, SYS_io_uring_enter);
}

void
interrupted_in_vain(ucontext_t *context)
{
    static const long waits[] = {SYS_poll,        SYS_ppoll,  SYS_epoll_wait,
                                 SYS_epoll_pwait, SYS_select, SYS_pselect6,
                                 SYS_pause};
    if (context->uc_mcontext.gregs[REG_RAX] != -(greg_t)EINTR ||
        !is_behind_call(context) || is_in_wait(context) ||
        next_pending(signals_word(&context->uc_sigmask)) != 0)
        return;
    long number = number_of_call((uint64_t)context->uc_mcontext.gregs[REG_RIP]);
    for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++)
        if (number == waits[i])
            make_again(context, number);
}

/* A call that returns EINTR has done nothing yet; but connect(2) goes on by
 * itself, close(2) has closed, and what waits under a mask of its own has given
 * that back. A sleep begins anew. */
void
interrupted_for_another(ucontext_t *context)
{
    static const long calls[] = {
        SYS_read,         SYS_write,           SYS_readv,    SYS_writev,
        SYS_recvfrom,     SYS_recvmsg,         SYS_sendto,   SYS_sendmsg,
        SYS_accept,       SYS_accept4,         SYS_futex,    SYS_poll,
        SYS_select,       SYS_epoll_wait,      SYS_wait4,    SYS_waitid,
        SYS_nanosleep,    SYS_clock_nanosleep, SYS_flock,    SYS_fcntl,
        SYS_semop,        SYS_semtimedop,      SYS_msgrcv,   SYS_msgsnd,
        SYS_mq_timedsend, SYS_mq_timedreceive, SYS_pause,    SYS_open,
        SYS_openat,       SYS_rt_sigtimedwait, SYS_recvmmsg, SYS_sendmmsg};
    if (context->uc_mcontext.gregs[REG_RAX] != -(greg_t)EINTR ||
        !is_behind_call(context) || is_in_wait(context))
        return;
    long number = number_of_call((uint64_t)context->uc_mcontext.gregs[REG_RIP]);
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
        if (number == calls[i])
            make_again(context, number);
}

void
interrupted_by_ours(ucontext_t *context)
{
    const greg_t *registers = context->uc_mcontext.gregs;
    bool was_ended = registers[REG_RAX] == -(greg_t)EINTR;
    if (was_ended && is_in_wait(context))
        resume_wait(context);
    else if (was_ended)
        repeat_ring_wait(context);
    else if (is_restarting(registers))
        end_call_for_next(context);
}
