/* SPDX-License-Identifier: MIT */
/*
 * hooks_wait.c -- the functions of libc that wait for signals, or under a mask
 * of their own. One of our signals that is still queued is not for the program;
 * the wait goes on.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/signalfd.h>

#include "base/clock.h"
#include "base/sys.h"
#include "capture/awaited.h"
#include "capture/handlers.h"
#include "capture/origin.h"
#include "capture/signals.h"
#include "capture/stray.h"
#include "fatal.h"
#include "fatal_wait.h"
#include "hook.h"
#include "mask.h"
#include "real.h"

/* What is left in LEFT of TIMEOUT, which began at START; START is now. */
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

/* Whether SIGNO, which the thread was given with *INFO, is not what it waits
 * for: ours, one that ends the process, or one that the main thread handles. */
static bool
is_for_another(int signo, siginfo_t *info)
{
    struct sys_action action;
    if (stray_restore(info))
        return false;
    if (origin_is_ours(signo, info) || fatal_wait_ends(signo, info))
        return true;
    return handlers_are_kept(signo) && !signals_is_kept(signo) &&
           sys_get_action(signo, &action) == 0 &&
           action.handler != (void *)SIG_DFL &&
           action.handler != (void *)SIG_IGN && !fatal_is_installed(signo) &&
           stray_send_on(signo, info);
}

/* Wait once, for what of SET may really be waited for. Returns whether what has
 * ended that is our business alone. */
static bool
wait_once(const sigset_t *set, siginfo_t *info, const struct timespec *timeout,
          int *signo)
{
    sigset_t mine, rest;
    fatal_wait_begin(set, &mine);
    set = &mine;
    mask_take_interest(set, &rest);
    const sigset_t *growing = awaited_begin(set, &rest);
    *signo =
        REAL(sigtimedwait)(growing != NULL ? growing : &rest, info, timeout);
    if (growing != NULL)
        awaited_end(growing);
    if (*signo > 0)
        return is_for_another(*signo, info);
    return errno == EINTR && awaited_is_near(set, &rest);
}

HOOK int
sigtimedwait(const sigset_t *set, siginfo_t *info,
             const struct timespec *timeout)
{
    siginfo_t got;
    struct timespec left;
    uint64_t start = clock_now();
    int signo, saved = errno;
    if (!sys_can_read_set(set))
        return REAL(sigtimedwait)(set, info, timeout);
    while (wait_once(set, &got, timeout, &signo))
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
    fatal_wait_descriptor(set, &mine);
    mask_take_interest(&mine, &rest);
    int result = REAL(signalfd)(fd, &rest, flags);
    awaited_by_descriptor(result, set, &rest);
    return result;
}

/* Waits under a mask of their own. */

HOOK int
sigsuspend(const sigset_t *set)
{
    struct mask_wait before;
    set = mask_enter_wait(set, &before);
    int result = REAL(sigsuspend)(set);
    mask_leave_wait(&before);
    return result;
}

/* With _XOPEN_SOURCE <signal.h> gives this name to the one of System V, where
 * SIGNO alone is open besides; its symbol is __xpg_sigpause. */
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
ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
      const sigset_t *set)
{
    struct mask_wait before;
    set = mask_enter_wait(set, &before);
    int result = REAL(ppoll)(fds, count, timeout, set);
    mask_leave_wait(&before);
    return result;
}

/* What <poll.h> makes of ppoll with _FORTIFY_SOURCE; LENGTH is that of FDS. */
int __ppoll_chk(struct pollfd *, nfds_t, const struct timespec *,
                const sigset_t *, size_t);

HOOK int
__ppoll_chk(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
            const sigset_t *set, size_t length)
{
    struct mask_wait before;
    set = mask_enter_wait(set, &before);
    int result = REAL(__ppoll_chk)(fds, count, timeout, set, length);
    mask_leave_wait(&before);
    return result;
}

HOOK int
pselect(int count, fd_set *reads, fd_set *writes, fd_set *others,
        const struct timespec *timeout, const sigset_t *set)
{
    struct mask_wait before;
    set = mask_enter_wait(set, &before);
    int result = REAL(pselect)(count, reads, writes, others, timeout, set);
    mask_leave_wait(&before);
    return result;
}

HOOK int
epoll_pwait(int fd, struct epoll_event *events, int count, int timeout,
            const sigset_t *set)
{
    struct mask_wait before;
    set = mask_enter_wait(set, &before);
    int result = REAL(epoll_pwait)(fd, events, count, timeout, set);
    mask_leave_wait(&before);
    return result;
}

HOOK int
epoll_pwait2(int fd, struct epoll_event *events, int count,
             const struct timespec *timeout, const sigset_t *set)
{
    if (REAL(epoll_pwait2) == NULL) {
        errno = ENOSYS;
        return -1;
    }
    struct mask_wait before;
    set = mask_enter_wait(set, &before);
    int result = REAL(epoll_pwait2)(fd, events, count, timeout, set);
    mask_leave_wait(&before);
    return result;
}
