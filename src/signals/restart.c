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
#include "base/sys.h"
#include "base/words.h"
#include "signals.h"
#include "restart.h"
#include "base/poison.h"

/* Limit of the stack between a hook and the system call that it leads to, in
 * bytes. The frame of a handler takes more. */
#define WAIT_FRAMES 1024

/* Bytes of code before a system call that are searched for its number, which
 * "mov $NUMBER, %eax" sets. */
#define CODE_BEFORE 64
#define MOVE_TO_EAX 0xb8

__thread volatile struct restart_wait restart_wait;
__thread volatile long restart_last_call;

/* The program's signal that will be delivered next under MASK, or 0 if none is
 * pending. */
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

/* Whether CONTEXT stands in the wait itself. It may stand in a handler that
 * came on top of it, or behind a wait that a handler left by siglongjmp. */
static bool
is_in_wait(const ucontext_t *context)
{
    uint64_t sp = (uint64_t)context->uc_mcontext.gregs[REG_RSP];
    return words_are_there() && restart_wait.is_on &&
           restart_wait.stack - sp < WAIT_FRAMES;
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
 * The pc is on the instruction, which has left its address behind in rcx. A
 * fork is begun again whatever the handlers say. */
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
ends_calls(int signo)
{
    struct sys_action now;
    return sys_get_action(signo, &now) == 0 && now.handler != (void *)SIG_DFL &&
           now.handler != (void *)SIG_IGN && (now.flags & SA_RESTART) == 0;
}

void
restart_end_call(ucontext_t *context)
{
    greg_t *registers = context->uc_mcontext.gregs;
    if (!is_restarting(registers))
        return;
    registers[REG_RAX] = -(greg_t)EINTR;
    registers[REG_RIP] += 2;
}

/* End the call if a signal of the program is pending that ends calls. */
static void
end_call_for_next(ucontext_t *context)
{
    int signo = next_pending(signals_word(&context->uc_sigmask));
    if (signo != 0 && ends_calls(signo))
        restart_end_call(context);
}

/* The number of the call in front of PC, or -1 if it cannot be told. It is no
 * longer in the registers. But the code puts it there ("mov $426, %eax"), or it
 * is syscall(2), which gets it from the program. The last instruction of that
 * is "mov 8(%rsp), %r9". */
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
        return words_are_there() ? restart_last_call : -1;
    for (; at >= code && memcmp(at, call, sizeof(call)) != 0; at--)
        if (*at == MOVE_TO_EAX) {
            memcpy(&number, at + 1, sizeof(number));
            return number;
        }
    return -1;
}

/* Make the call NUMBER again, which has just ended with EINTR. */
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

/* Make io_uring_enter again if only our signal ended it. Before it waits, it
 * runs what the kernel has put off until the way back to user mode. There a
 * sample taken in the kernel becomes a signal, and then it does not wait. If no
 * signal is there for the program, the program must not notice. The call has
 * done nothing yet. */
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
restart_after_blocked(ucontext_t *context)
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

/* A call that returns EINTR has done nothing yet. Three kinds of calls are not
 * in the list. connect(2) goes on by itself. close(2) has closed. A wait under
 * a mask of its own has put the mask back. A sleep begins anew. */
void
restart_for_another(ucontext_t *context)
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
restart_after_ours(ucontext_t *context)
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
