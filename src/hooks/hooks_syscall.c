/* SPDX-License-Identifier: MIT */
/*
 * hooks_syscall.c -- syscall(2), prctl(2), ptrace(2), clone(2); see hooks.c for
 * hooks in general. These system calls by number matter here:
 *
 * An exec: a sample that the kernel takes during it reaches the new image, and
 * kills it. A disposition: the program's own is changed. A wait for signals, or
 * under a mask: signals that come then are the program's. A filter of system
 * calls (seccomp(2), prctl(2)): it may kill the process for a call that only we
 * make. It works on the program's threads and, with SECCOMP_FILTER_FLAG_TSYNC,
 * on the sampler. So the profile ends before it, and none of our code runs
 * after it. A thread that asks to be traced (tracee.h). The end of a thread or
 * of the process. A process that will share the table of dispositions.
 *
 * Headers declare these functions with a variable number of arguments, which
 * cannot be passed on. So they have other names here.
 */
#include <linux/prctl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/left.h"
#include "agent/lifecycle.h"
#include "base/arch.h"
#include "base/note.h"
#include "base/phase.h"
#include "base/sys.h"
#include "base/words.h"
#include "capture/waiting.h"
#include "libc/real.h"
#include "sampling/sampler_thread.h"
#include "sampling/thread_ends.h"
#include "sampling/tracee.h"
#include "signals/disposition.h"
#include "signals/handlers.h"
#include "signals/restart.h"
#include "signals/signals.h"
#include "hook.h"

#define KERNEL_MASK_SIZE 8

/* Time in ns in which the sampler's thread, whose work is done, has to
 * leave. */
#define GONE_NS 1000000000u

long hook_syscall(long number, long a, long b, long c, long d, long e,
                  long f) __asm__("syscall");
int hook_prctl(int option, unsigned long a, unsigned long b, unsigned long c,
               unsigned long d) __asm__("prctl");
int hook_clone(int (*function)(void *), void *stack, int flags, void *argument,
               pid_t *parent, void *words, pid_t *child) __asm__("clone");
long hook_ptrace(long request, long pid, long address,
                 long data) __asm__("ptrace");

/* The program is about to do something under which our handlers cannot run. The
 * sampler's thread leaves as well, because the last thread's end is that of the
 * process. */
static void
end_before(const char *what)
{
    words_ask_no_more();
    bool is_running = phase_is_running();
    if (is_running)
        note(NOTE_INFO, "the program ", what, ": the profile ends here", NULL);
    lifecycle_end(END_STOP);
    if (is_running) {
        sampler_thread_wait_gone(GONE_NS);
        disposition_end_enders();
    }
    /* Not in a child that shares our memory: its parent goes on asking. */
    if (phase_is_own())
        phase_ask_no_more();
}

static const char filters[] = "forbids itself system calls (seccomp)";

/* CALL makes the calling thread a tracee. */
#define TO_BE_TRACED(call)          \
    __extension__({                 \
        left_mark();                \
        bool holds = tracee_hold(); \
        long result = (call);       \
        if (holds)                  \
            tracee_release();       \
        result;                     \
    })

static long
change_namespace(long number, long a, long b)
{
    bool is_aside = number == SYS_unshare ? hook_before_unshare((int)a)
                                          : hook_before_setns((int)a, (int)b);
    long result = real_syscall(number, a, b, 0, 0, 0, 0);
    if (is_aside)
        lifecycle_come_back();
    return result;
}

/* The signals that the thread really blocks. */
static long
change_mask(long how, long set, long old, long size)
{
    long result = real_syscall(SYS_rt_sigprocmask, how, set, old, size, 0, 0);
    if (result == 0)
        hook_after_mask();
    return result;
}

/* rt_sigaction(2). Returns whether *RESULT is that of the call. A separate
 * function, because callers of other calls do not set these arguments.
 */
static __attribute__((noinline)) bool
act_by_number(long a, long b, long c, long d, long *result)
{
    if (d != KERNEL_MASK_SIZE)
        return false;
    if (hook_signal_by_number((int)a, (const struct sys_action *)b,
                              (struct sys_action *)c, result))
        return true;
    if (b != 0)
        handlers_forget((int)a);
    return false;
}

/* A system call that may wait often and shortly. A separate function, because
 * it needs a frame. */
static __attribute__((noinline)) long
wait_by_number(long number, long a, long b, long c, long d, long e, long f)
{
    struct waiting waiting;
    struct regs at;
    waiting_at(&at, REAL_FOUND_AS(const void *, syscall));
    waiting_begin(&waiting, &at);
    long result = real_syscall(number, a, b, c, d, e, f);
    waiting_end(&waiting);
    return result;
}

static void
before_clone(uint64_t flags)
{
    if ((flags & (CLONE_SIGHAND | CLONE_THREAD)) == CLONE_SIGHAND)
        signals_share_table();
}

/* A tail call, so that no frame of our code is on the stack of a waiting
 * thread. */
HOOK long
hook_syscall(long number, long a, long b, long c, long d, long e, long f)
{
    bool has_words = words_are_there();
    if (has_words)
        restart_last_call = number;
    if (number == SYS_execve)
        return execve((const char *)a, (char *const *)b, (char *const *)c);
    if (number == SYS_execveat)
        return execveat((int)a, (const char *)b, (char *const *)c,
                        (char *const *)d, (int)e);
    if (number == SYS_chroot)
        return chroot((const char *)a);
    if (number == SYS_seccomp && (a == 0 || a == 1)) /* SECCOMP_SET_MODE_... */
        end_before(filters);
    if (number == SYS_ptrace && a == PTRACE_TRACEME)
        /* The libc function of that name does not behave alike for every
         * request. */
        return TO_BE_TRACED(real_syscall(number, a, b, c, d, e, f));
    if (number == SYS_unshare || number == SYS_setns)
        return change_namespace(number, a, b);
    if (number == SYS_clone)
        before_clone((uint64_t)a);
    /* The flags come first in the struct. Reading them may take a system call
     * that a filter of the program forbids. */
    if (number == SYS_clone3 && phase_is_on())
        before_clone(sys_read_word((uint64_t)a));
    if (number == SYS_mprotect)
        hook_before_protect((const void *)a, (size_t)b, c);
    if (number == SYS_sigaltstack)
        return sigaltstack((const stack_t *)a, (stack_t *)b);
    if (number == SYS_newfstatat || number == SYS_statx)
        hook_before_look((const char *)b);
    if (number == ARCH_CALL_STAT)
        hook_before_look((const char *)a);
    hook_send_by_number(number, a, b, c);
    /* After the end of the profile, a filter may forbid what these do. */
    if (has_words && phase_now() == PHASE_RUNNING) {
        long result;
        if (number == SYS_exit)
            thread_ends_leave();
        if (number == SYS_exit_group)
            lifecycle_end_apart(END_QUICK);
        if (hook_wait_by_number(number, a, b, c, d, e, f, &result))
            return result;
        if (number == SYS_rt_sigprocmask && b != 0)
            return change_mask(a, b, c, d);
        if (number == SYS_futex || number == SYS_io_uring_enter ||
            number == SYS_io_getevents)
            return wait_by_number(number, a, b, c, d, e, f);
    }
    if (number == SYS_rt_sigaction && has_words) {
        long result;
        if (act_by_number(a, b, c, d, &result))
            return result;
    }
    return real_syscall(number, a, b, c, d, e, f);
}

HOOK int
hook_prctl(int option, unsigned long a, unsigned long b, unsigned long c,
           unsigned long d)
{
    if (option == PR_SET_SECCOMP)
        end_before(filters);
    if (option == PR_SET_SYSCALL_USER_DISPATCH && a != 0)
        end_before(
            "handles system calls itself (PR_SET_SYSCALL_USER_DISPATCH)");
    if (option == PR_SET_TSC && a == PR_TSC_SIGSEGV)
        end_before("forbids itself the time stamp counter (PR_SET_TSC)");
    return real_prctl(option, a, b, c, d);
}

HOOK int
hook_clone(int (*function)(void *), void *stack, int flags, void *argument,
           pid_t *parent, void *words, pid_t *child)
{
    before_clone((uint64_t)flags);
    return REAL_AS(__typeof__(&hook_clone), clone)(function, stack, flags,
                                                   argument, parent, words,
                                                   child);
}

HOOK long
hook_ptrace(long request, long pid, long address, long data)
{
    long (*real)(long, long, long, long) =
        REAL_AS(long (*)(long, long, long, long), ptrace);
    if ((int)request != PTRACE_TRACEME)
        return real(request, pid, address, data);
    return TO_BE_TRACED(real(request, pid, address, data));
}
