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
#include "interrupted.h"
#include "signals.h"
#include "poison.h"

/* So much stack may lie between a hook and the system call that it leads to;
 * the frame of a handler takes more. */
#define WAIT_FRAMES 1024

/* So much code before a system call is searched for its number. */
#define RING_CODE 64

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
    return interrupted_wait.is_on && interrupted_wait.stack - sp < WAIT_FRAMES;
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
        return interrupted_last_call == SYS_io_uring_enter;
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
interrupted_by_ours(ucontext_t *context)
{
    const greg_t *registers = context->uc_mcontext.gregs;
    bool was_ended = registers[REG_RAX] == -(greg_t)EINTR;
    if (was_ended && is_in_wait(context))
        resume_wait(context);
    else if (was_ended)
        repeat_ring_wait(context);
    else if (is_restarting(registers))
        end_call(context);
}
