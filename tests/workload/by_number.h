/* SPDX-License-Identifier: MIT */
/*
 * by_number.h -- waits for signals, and under a mask, as syscall(2) makes them:
 * a profiler's function of the same name does not see them. Arguments and
 * results are those of the function.
 */
#ifndef WORKLOAD_BY_NUMBER_H
#define WORKLOAD_BY_NUMBER_H

#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* How long the kernel's sets are. */
#define NUMBER_SET_SIZE 8L

static inline int
number_sigmask(int how, const sigset_t *set, sigset_t *old)
{
    return (int)syscall(SYS_rt_sigprocmask, how, set, old, NUMBER_SET_SIZE);
}

static inline int
number_sigtimedwait(const sigset_t *set, siginfo_t *info,
                    const struct timespec *timeout)
{
    return (int)syscall(SYS_rt_sigtimedwait, set, info, timeout,
                        NUMBER_SET_SIZE);
}

static inline int
number_signalfd(int fd, const sigset_t *set, int flags)
{
    return (int)syscall(SYS_signalfd4, fd, set, NUMBER_SET_SIZE, flags);
}

static inline int
number_sigsuspend(const sigset_t *set)
{
    return (int)syscall(SYS_rt_sigsuspend, set, NUMBER_SET_SIZE);
}

static inline int
number_ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
             const sigset_t *set)
{
    struct timespec left = *timeout;
    return (int)syscall(SYS_ppoll, fds, count, &left, set, NUMBER_SET_SIZE);
}

static inline int
number_pselect(int count, fd_set *reads, const struct timespec *timeout,
               const sigset_t *set)
{
    struct timespec left = *timeout;
    struct {
        const sigset_t *set;
        long size;
    } mask = {set, NUMBER_SET_SIZE};
    return (int)syscall(SYS_pselect6, count, reads, NULL, NULL, &left, &mask);
}

static inline int
number_epoll_pwait(int fd, struct epoll_event *events, int count, int timeout,
                   const sigset_t *set)
{
    return (int)syscall(SYS_epoll_pwait, fd, events, count, timeout, set,
                        NUMBER_SET_SIZE);
}

static inline int
number_epoll_pwait2(int fd, struct epoll_event *events, int count,
                    const struct timespec *timeout, const sigset_t *set)
{
    return (int)syscall(SYS_epoll_pwait2, fd, events, count, timeout, set,
                        NUMBER_SET_SIZE);
}

#endif
