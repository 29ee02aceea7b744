/* SPDX-License-Identifier: MIT */
/*
 * hooks_wait.c -- the functions of libc that wait for signals, or under their
 * own mask, and syscall(2) for the same. If one of our signals that is still
 * queued ends a wait, the wait goes on: the signal is not for the program.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>

#include "agent/ending_signals.h"
#include "base/arch.h"
#include "base/clock.h"
#include "base/sys.h"
#include "capture/handler.h"
#include "capture/waiting.h"
#include "signals/sigwait.h"
#include "signals/stray.h"
#include "libc/real.h"
#include "signals/handlers.h"
#include "signals/mask.h"
#include "signals/disposition.h"
#include "signals/signals.h"
#include "hook.h"

#define KERNEL_SET_SIZE ((long)sizeof(uint64_t))

/* Store in LEFT the rest of TIMEOUT, which began at START. START becomes
 * now. */
static const struct timespec *
shorten(const struct timespec *timeout, uint64_t *start, struct timespec *left)
{
    uint64_t now = clock_now(), passed = now - *start;
    uint64_t ns =
        (uint64_t)timeout->tv_sec * NS_PER_SECOND + (uint64_t)timeout->tv_nsec;
    *start = now;
    *left = clock_timespec(ns > passed ? ns - passed : 0);
    return left;
}

/* Whether the thread does not wait for SIGNO, which it was given with *INFO.
 * Such a signal is ours, ends the process, or is one that the main thread
 * handles. */
static bool
is_for_another(int signo, siginfo_t *info)
{
    struct sys_action action;
    if (stray_restore(info))
        return false;
    if (handler_is_ours(signo, info) || ending_signals_ends(signo, info))
        return true;
    enum signals_role role = disposition_role(signo);
    return handlers_are_kept(signo) &&
           (role == SIGNALS_NONE || role >= SIGNALS_ENDING) &&
           sys_get_action(signo, &action) == 0 &&
           action.handler != (void *)SIG_DFL &&
           action.handler != (void *)SIG_IGN && !disposition_has_ender(signo) &&
           stray_send_on(signo, info);
}

/* Choose between the two functions that really wait. libc's function is a
 * cancellation point, and changes the code of signals that tkill(2) has sent.
 */
typedef int wait_function(const sigset_t *, siginfo_t *,
                          const struct timespec *);

static int
wait_by_name(const sigset_t *set, siginfo_t *info,
             const struct timespec *timeout)
{
    return REAL(sigtimedwait)(set, info, timeout);
}

static int
wait_by_number(const sigset_t *set, siginfo_t *info,
               const struct timespec *timeout)
{
    return (int)real_syscall(SYS_rt_sigtimedwait, (long)set, (long)info,
                             (long)timeout, KERNEL_SET_SIZE, 0, 0);
}

/* Wait once, for the part of SET for which the thread may really wait. Returns
 * whether the signal that ended the wait is our business alone. */
static bool
wait_once(wait_function *wait, const sigset_t *set, siginfo_t *info,
          const struct timespec *timeout, int *signo)
{
    sigset_t mine, rest;
    ending_signals_wait(set, &mine);
    set = &mine;
    mask_take_interest(set, &rest);
    const sigset_t *growing = sigwait_begin(set, &rest);
    *signo = wait(growing != NULL ? growing : &rest, info, timeout);
    if (growing != NULL)
        sigwait_end(growing);
    if (*signo > 0)
        return is_for_another(*signo, info);
    return errno == EINTR && sigwait_is_near(set, &rest);
}

/* As sigtimedwait; the kernel can read SET. */
static int
wait_by(wait_function *wait, const sigset_t *set, siginfo_t *info,
        const struct timespec *timeout)
{
    siginfo_t got;
    struct timespec left;
    uint64_t start = clock_now();
    int signo, saved = errno;
    while (wait_once(wait, set, &got, timeout, &signo))
        if (timeout != NULL)
            timeout = shorten(timeout, &start, &left);
    if (signo < 0)
        return signo;
    if (info != NULL && !sys_can_write_set(info)) {
        errno = EFAULT;
        return -1;
    }
    errno = saved;
    if (info != NULL)
        *info = got;
    return signo;
}

HOOK int
sigtimedwait(const sigset_t *set, siginfo_t *info,
             const struct timespec *timeout)
{
    return sys_can_read_set(set) ? wait_by(wait_by_name, set, info, timeout)
                                 : wait_by_name(set, info, timeout);
}

HOOK int
sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
    return sigtimedwait(set, info, NULL);
}

HOOK int
sigwait(const sigset_t *set, int *signo)
{
    int result, saved = errno;
    do
        result = sigtimedwait(set, NULL, NULL);
    while (result < 0 && errno == EINTR);
    int error = errno;
    errno = saved;
    if (result < 0)
        return error;
    *signo = result;
    return 0;
}

HOOK int
signalfd(int fd, const sigset_t *set, int flags)
{
    sigset_t mine, rest;
    if (!sys_can_read_set(set))
        return REAL(signalfd)(fd, set, flags);
    ending_signals_descriptor(set, &mine);
    mask_take_interest(&mine, &rest);
    int result = REAL(signalfd)(fd, &rest, flags);
    sigwait_by_descriptor(result, set, &rest);
    return result;
}

/* Waits under their own mask. WAIT is made with *SET as the real mask, by the
 * function at ENTRY. The macro's result is that of WAIT. */
#define UNDER_MASK(set, entry, wait)                    \
    __extension__({                                     \
        struct mask_wait before_wait;                   \
        struct waiting waiting;                         \
        struct regs at;                                 \
        waiting_at(&at, (const void *)(entry));         \
        waiting_begin(&waiting, &at);                   \
        *(set) = mask_enter_wait(*(set), &before_wait); \
        __typeof__(wait) wait_result = (wait);          \
        mask_leave_wait(&before_wait);                  \
        waiting_end(&waiting);                          \
        wait_result;                                    \
    })

#define WAITS(name, parameters, arguments)                         \
    HOOK int name parameters                                       \
    {                                                              \
        return UNDER_MASK(&set, REAL(name), REAL(name) arguments); \
    }

WAITS(sigsuspend, (const sigset_t *set), (set))
WAITS(ppoll,
      (struct pollfd * fds, nfds_t count, const struct timespec *timeout,
       const sigset_t *set),
      (fds, count, timeout, set))
WAITS(pselect,
      (int count, fd_set *reads, fd_set *writes, fd_set *others,
       const struct timespec *timeout, const sigset_t *set),
      (count, reads, writes, others, timeout, set))
WAITS(epoll_pwait,
      (int fd, struct epoll_event *events, int count, int timeout,
       const sigset_t *set),
      (fd, events, count, timeout, set))

/* With _FORTIFY_SOURCE, <poll.h> turns ppoll into this; LENGTH is that of
 * FDS. */
int __ppoll_chk(struct pollfd *, nfds_t, const struct timespec *,
                const sigset_t *, size_t);
WAITS(__ppoll_chk,
      (struct pollfd * fds, nfds_t count, const struct timespec *timeout,
       const sigset_t *set, size_t length),
      (fds, count, timeout, set, length))

/* With _XOPEN_SOURCE, <signal.h> gives this name to System V's function, which
 * opens SIGNO in addition; its symbol is __xpg_sigpause. */
HOOK int
sigpause(int signo)
{
    sigset_t set;
    (void)pthread_sigmask(SIG_BLOCK, NULL, &set);
    return sigdelset(&set, signo) == 0 ? sigsuspend(&set) : -1;
}

/* That of 4.2BSD, under a mask of 32 signals. */
int hook_sigpause_bsd(int mask) __asm__("sigpause");

HOOK int
hook_sigpause_bsd(int mask)
{
    sigset_t set;
    sigemptyset(&set);
    memcpy(&set, &mask, sizeof(mask));
    return sigsuspend(&set);
}

HOOK int
epoll_pwait2(int fd, struct epoll_event *events, int count,
             const struct timespec *timeout, const sigset_t *set)
{
    if (REAL(epoll_pwait2) == NULL) {
        errno = ENOSYS;
        return -1;
    }
    return UNDER_MASK(&set, REAL(epoll_pwait2),
                      REAL(epoll_pwait2)(fd, events, count, timeout, set));
}

/* Waits by number: sets are as long as the kernel's, and a wait is no
 * cancellation point. The kernel reports wrong arguments. */

/* The arguments of syscall(2): NUMBER and the six that follow it. */
struct call {
    long number, arguments[6];
};

static long
make_call(const struct call *call)
{
    const long *a = call->arguments;
    return real_syscall(call->number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* Returns false if the kernel would refuse the set at ADDRESS. */
static bool
take_set(long address, long size, sigset_t *set)
{
    sigemptyset(set);
    if (size != KERNEL_SET_SIZE || !sys_can_read_set((const void *)address))
        return false;
    memcpy(set, (const void *)address, sizeof(uint64_t));
    return true;
}

/* For a wait under a mask: the place of the set's address; its size follows.
 * NULL: no such wait. */
static long *
find_mask(struct call *call)
{
    switch (call->number) {
    case SYS_rt_sigsuspend:
        return call->arguments;
    case SYS_ppoll:
        return call->arguments + 3;
    case SYS_epoll_pwait:
    case SYS_epoll_pwait2:
        return call->arguments + 4;
    default:
        return NULL;
    }
}

/* The same for pselect6(2): its last argument is the address of both. The
 * result is then in COPY. */
static long *
find_mask_behind(struct call *call, long copy[2])
{
    const long *given = (const long *)call->arguments[5];
    if (call->number != SYS_pselect6 || !sys_can_read_set(given) ||
        !sys_can_read_set(given + 1))
        return NULL;
    copy[0] = given[0];
    copy[1] = given[1];
    call->arguments[5] = (long)copy;
    return copy;
}

/* *CALL with SET in place of the set at *MASK, which is a word of it. */
static long
call_with_mask(struct call *call, long *mask, const sigset_t *set)
{
    *mask = (long)set;
    return make_call(call);
}

static bool
wait_under_mask(struct call *call, long *result)
{
    sigset_t set;
    const sigset_t *given = &set;
    long copy[2], *mask = find_mask(call);
    if (mask == NULL)
        mask = find_mask_behind(call, copy);
    if (mask == NULL || !take_set(mask[0], mask[1], &set))
        return false;
    *result = UNDER_MASK(&given, REAL_FOUND_AS(const void *, syscall),
                         call_with_mask(call, mask, given));
    return true;
}

static bool
make_descriptor(struct call *call, long *result)
{
    sigset_t set, mine, rest;
    if (!take_set(call->arguments[1], call->arguments[2], &set))
        return false;
    ending_signals_descriptor(&set, &mine);
    mask_take_interest(&mine, &rest);
    call->arguments[1] = (long)&rest;
    *result = make_call(call);
    sigwait_by_descriptor((int)*result, &set, &rest);
    return true;
}

bool
hook_wait_by_number(long number, long a, long b, long c, long d, long e, long f,
                    long *result)
{
    struct call call = {.number = number, .arguments = {a, b, c, d, e, f}};
    sigset_t set;
    switch (number) {
    case SYS_rt_sigtimedwait:
        if (!take_set(a, d, &set))
            return false;
        *result = wait_by(wait_by_number, &set, (siginfo_t *)b,
                          (const struct timespec *)c);
        return true;
    case ARCH_CALL_SIGNALFD:
    case SYS_signalfd4:
        return make_descriptor(&call, result);
    case SYS_rt_sigsuspend:
    case SYS_ppoll:
    case SYS_pselect6:
    case SYS_epoll_pwait:
    case SYS_epoll_pwait2:
        return wait_under_mask(&call, result);
    default:
        return false;
    }
}
