/* SPDX-License-Identifier: MIT */
/*
 * hooks_signal.c -- the functions of libc that change dispositions, masks and
 * alternate stacks, and those that send signals. The program sees and sets its
 * own; signals/signals.h and mask.h decide which of them are real. The
 * functions of 4.2BSD and System V are here too, because inside libc they go
 * around sigaction and sigprocmask. Those that wait are in hooks_wait.c.
 *
 * Not here: a mask that is changed by syscall(2), which is noticed and reported
 * (trigger.c); and siglongjmp, which restores only the real mask.
 */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/ending_signals.h"
#include "base/phase.h"
#include "base/sys.h"
#include "base/words.h"
#include "signals/stray.h"
#include "libc/real.h"
#include "signals/alternate.h"
#include "signals/handlers.h"
#include "signals/mask.h"
#include "signals/disposition.h"
#include "signals/signals.h"
#include "hook.h"

/* Whether dispositions may differ from those of the kernel. */
static bool
are_actions_kept(void)
{
    return phase_is_on() && phase_is_own();
}

HOOK int
sigaction(int signo, const struct sigaction *action, struct sigaction *old)
{
    if (!are_actions_kept()) {
        int result = REAL(sigaction)(signo, action, old);
        if (result == 0 && old != NULL)
            disposition_show(signo, old);
        return result;
    }
    if (action != NULL && signals_is_handler(action))
        mask_name_in_handler(&action->sa_mask);
    int result = disposition_action(signo, action, old);
    /* From now on a number that the sampler has given back must come to this
     * thread. */
    signals_sync_now();
    return result;
}

static bool
is_action_kept(int signo)
{
    return are_actions_kept() && (disposition_role(signo) != SIGNALS_NONE ||
                                  handlers_are_kept(signo));
}

/* From its first member to its last. */
static bool
can_read_action(const struct sys_action *action)
{
    return sys_can_read_set(action) && sys_can_read_set(&action->mask);
}

bool
hook_signal_by_number(int signo, const struct sys_action *action,
                      struct sys_action *old, long *result)
{
    struct sigaction given, before;
    struct sys_action now;
    if (!is_action_kept(signo) || (action != NULL && !can_read_action(action)))
        return false;
    if (action != NULL)
        given = signals_of_kernel(action);
    *result = sigaction(signo, action != NULL ? &given : NULL, &before);
    if (*result != 0 || old == NULL)
        return true;
    if (!sys_can_write_set(old) || !sys_can_write_set(&old->mask)) {
        errno = EFAULT;
        *result = -1;
        return true;
    }
    if (sys_get_action(signo, &now) != 0)
        return true;
    *old = signals_for_kernel(&before);
    old->restorer = signals_is_handler(&before) ? now.restorer : NULL;
    return true;
}

/* Whether the older functions must not set the disposition of SIGNO unseen. If
 * they may, our copy of its mask becomes stale. */
static bool
is_kept(int signo)
{
    if (is_action_kept(signo))
        return true;
    handlers_forget(signo);
    return false;
}

/* sigaction for a handler and flags alone; returns the old handler. */
static __sighandler_t
change_handler(int signo, __sighandler_t handler, int flags, bool blocks_itself)
{
    struct sigaction action, old;
    memset(&action, 0, sizeof(action));
    action.sa_handler = handler;
    action.sa_flags = flags;
    if (blocks_itself)
        (void)sigaddset(&action.sa_mask, signo);
    if (handler == SIG_ERR) {
        errno = EINVAL;
        return SIG_ERR;
    }
    return sigaction(signo, &action, &old) == 0 ? old.sa_handler : SIG_ERR;
}

HOOK __sighandler_t
signal(int signo, __sighandler_t handler)
{
    if (is_kept(signo))
        return change_handler(signo, handler, SA_RESTART, true);
    return REAL(signal)(signo, handler);
}

HOOK __sighandler_t
sysv_signal(int signo, __sighandler_t handler)
{
    if (is_kept(signo))
        return change_handler(signo, handler, (int)SA_RESETHAND | SA_NODEFER,
                              false);
    return REAL(sysv_signal)(signo, handler);
}

/* The same functions by other names. Without _DEFAULT_SOURCE, <signal.h> turns
 * signal into __sysv_signal. */
#define ALSO(name, as)                                          \
    HOOK __sighandler_t name(int signo, __sighandler_t handler) \
    {                                                           \
        return as(signo, handler);                              \
    }

__sighandler_t bsd_signal(int, __sighandler_t);
ALSO(bsd_signal, signal)
ALSO(ssignal, signal)
ALSO(__sysv_signal, sysv_signal)

HOOK int
siginterrupt(int signo, int interrupts)
{
    struct sigaction action;
    if (!is_kept(signo))
        return REAL_AS(int (*)(int, int), siginterrupt)(signo, interrupts);
    (void)sigaction(signo, NULL, &action);
    action.sa_flags &= ~SA_RESTART;
    if (!interrupts)
        action.sa_flags |= SA_RESTART;
    return sigaction(signo, &action, NULL);
}

HOOK int
sigignore(int signo)
{
    if (!is_kept(signo))
        return REAL_AS(int (*)(int), sigignore)(signo);
    return change_handler(signo, SIG_IGN, 0, false) == SIG_ERR ? -1 : 0;
}

void
hook_after_mask(void)
{
    /* In a program with one thread, no other thread asks. */
    if (handlers_are_kept(SIGHUP) && words_are_there())
        stray_note_own_mask();
    ending_signals_recheck(false);
}

static int
change_mask(int how, const sigset_t *set, sigset_t *old)
{
    int error = mask_change(how, set, old, REAL(pthread_sigmask));
    if (set != NULL)
        hook_after_mask();
    return error;
}

HOOK int
pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
    return change_mask(how, set, old);
}

HOOK int
sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
    int error = change_mask(how, set, old);
    if (error == 0)
        return 0;
    errno = error;
    return -1;
}

/* Block or unblock SIGNO. Returns whether it was blocked, -1 with errno. */
static int
change_one(int how, int signo)
{
    sigset_t set, old;
    sigemptyset(&set);
    if (sigaddset(&set, signo) != 0 || sigprocmask(how, &set, &old) != 0)
        return -1;
    return sigismember(&old, signo);
}

HOOK int
sighold(int signo)
{
    return change_one(SIG_BLOCK, signo) < 0 ? -1 : 0;
}

HOOK int
sigrelse(int signo)
{
    return change_one(SIG_UNBLOCK, signo) < 0 ? -1 : 0;
}

HOOK __sighandler_t
sigset(int signo, __sighandler_t handler)
{
    struct sigaction old;
    if (!is_kept(signo))
        return REAL_AS(__typeof__(&signal), sigset)(signo, handler);
    (void)sigaction(signo, NULL, &old);
    int was_blocked = 0;
    if (handler == SIG_HOLD) {
        was_blocked = change_one(SIG_BLOCK, signo);
    } else if (change_handler(signo, handler, 0, false) == SIG_ERR) {
        return SIG_ERR;
    } else {
        was_blocked = change_one(SIG_UNBLOCK, signo);
    }
    return was_blocked ? SIG_HOLD : old.sa_handler;
}

/* Masks of 32 signals in an int. */
static int
change_first_32(int how, int mask)
{
    sigset_t set, old;
    uint32_t first;
    sigemptyset(&set);
    memcpy(&set, &mask, sizeof(mask));
    if (sigprocmask(how, &set, &old) != 0)
        return -1;
    memcpy(&first, &old, sizeof(first));
    return (int)first;
}

HOOK int
sigblock(int mask)
{
    return change_first_32(SIG_BLOCK, mask);
}

HOOK int
sigsetmask(int mask)
{
    return change_first_32(SIG_SETMASK, mask);
}

/* The functions by which a program sends signals to itself. The control signal
 * (agent/requests.h) is blocked in every thread. A thread that waits for "all"
 * signals does not get our numbers. So a program would never receive this
 * signal from itself. When it sends one, the number is given back to it. */

/* Whether SIGNO is one of ours, or one before whose default action we write a
 * profile. The receiver is checked after that, so that most signals cost no
 * system call. */
static bool
is_used(int signo)
{
    return signo > 0 && signo < NSIG && phase_is_on() &&
           (((signals_closed() | signals_borrowed()) & signals_bit(signo)) !=
                0 ||
            disposition_role(signo) >= SIGNALS_ENDING);
}

/* SIGNO, which is used, is about to be sent within this process. A handler that
 * is called once may send it again, to end the program by it (node does). If
 * the program does not handle SIGNO, the signal ends the program, or is blocked
 * and waited for. */
static void
let_go(int signo)
{
    struct sigaction action;
    if (!phase_is_own())
        return;
    disposition_renew_ender(signo);
    if ((signals_closed() & signals_bit(signo)) != 0)
        disposition_release(SIGNALS_CONTROL);
    else if (disposition_get_program(signo, &action) &&
             action.sa_handler == SIG_DFL)
        (void)disposition_give_back(signo);
}

/* 0 is the process's group. */
static bool
is_own_group(pid_t group)
{
    return group == 0 || group == getpgrp();
}

/* A number that is not positive is a group, or all processes (-1). */
static bool
is_to_us(pid_t pid)
{
    return pid > 0 ? pid == phase_caller() : pid == -1 || is_own_group(-pid);
}

#define SENDS(storage, name, real, is_within, parameters, arguments) \
    storage int name parameters                                      \
    {                                                                \
        if (is_used(signo) && (is_within))                           \
            let_go(signo);                                           \
        return real arguments;                                       \
    }

SENDS(HOOK, raise, REAL(raise), true, (int signo), (signo))
SENDS(HOOK, gsignal, REAL(raise), true, (int signo), (signo))
SENDS(HOOK, kill, REAL(kill), is_to_us(pid), (pid_t pid, int signo),
      (pid, signo))
SENDS(HOOK, killpg, REAL(killpg), is_own_group(group), (pid_t group, int signo),
      (group, signo))
SENDS(HOOK, sigqueue, REAL(sigqueue), pid == phase_caller(),
      (pid_t pid, int signo, const union sigval value), (pid, signo, value))
SENDS(HOOK, pthread_kill, REAL(pthread_kill), true,
      (pthread_t thread, int signo), (thread, signo))
SENDS(HOOK, pthread_sigqueue, REAL(pthread_sigqueue), true,
      (pthread_t thread, int signo, const union sigval value),
      (thread, signo, value))
SENDS(HOOK, tgkill, REAL(tgkill), pid == phase_caller(),
      (pid_t pid, pid_t tid, int signo), (pid, tid, signo))

HOOK_OLD(pthread_kill, ARCH_OLD_KILL);
HOOK int old_pthread_kill(pthread_t thread, int signo);
/* Returns ESRCH for a thread that has ended and was not joined. */
SENDS(, old_pthread_kill, REAL_OLD(pthread_kill, ARCH_OLD_KILL), true,
      (pthread_t thread, int signo), (thread, signo))

/* Whether TID is a thread of the calling process. */
static bool
is_thread(long tid)
{
    return !phase_may_ask() || sys_call(SYS_tgkill, phase_caller(), tid) == 0;
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

/* Alternate signal stacks; see signals/alternate.h for why one that is made
 * read-only matters. */

/* Whether our signals may come. After the end the program may have forbidden
 * itself the system calls that are made here (seccomp(2)). */
static bool
is_sampled(void)
{
    enum phase now = phase_now();
    return now == PHASE_RUNNING || now == PHASE_ASIDE;
}

/* From now on keep our signals off alternate stacks. Wait until none is on the
 * SIZE bytes of MEMORY, if these are such a stack. Several threads may do this
 * at once; each does all of it. */
static void
avoid(const void *memory, size_t size)
{
    static _Atomic bool is_set;
    int saved = words_errno();
    if (!atomic_load(&is_set)) {
        alternate_avoid();
        disposition_avoid_alternate();
        atomic_store(&is_set, true);
    }
    alternate_leave(memory, size);
    words_set_errno(saved);
}

HOOK int
sigaltstack(const stack_t *restrict stack, stack_t *restrict old)
{
    int result = REAL(sigaltstack)(stack, old);
    if (result == 0 && stack != NULL && is_sampled() && phase_is_own())
        alternate_note();
    return result;
}

void
hook_before_protect(const void *memory, size_t size, long access)
{
    if ((access & PROT_WRITE) == 0 && alternate_is_any() && is_sampled() &&
        alternate_is_in(memory, size) && phase_is_own())
        avoid(memory, size);
}

/* A tail call, so that no frame of our code is on the stack. */
int hook_mprotect(void *memory, size_t size, int access) __asm__("mprotect");

HOOK int
hook_mprotect(void *memory, size_t size, int access)
{
    hook_before_protect(memory, size, access);
    return real_mprotect(memory, size, access);
}
