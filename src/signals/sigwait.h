/* SPDX-License-Identifier: MIT */
/*
 * sigwait.h -- threads in sigtimedwait(2), and descriptors of signalfd(2), that
 * asked for all signals. They got a set without the numbers that are ours
 * (signals.h). When such a number becomes the program's, it is added to their
 * sets. Each of the two tables has room for 32; a waiter that does not fit is
 * not woken.
 *
 * errno keeps its value. Context: any.
 */
#ifndef SIGNALS_SIGWAIT_H
#define SIGNALS_SIGWAIT_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* Note that the calling thread is about to wait for REST, which is SET without
 * our numbers. Returns the set that the thread must wait for, or NULL if no
 * place is free. That set may grow while the thread waits. Our signal then
 * wakes the thread, and the wait ends with EINTR. */
const sigset_t *sigwait_begin(const sigset_t *set, const sigset_t *rest);

/* Note that the wait is over. SET is what sigwait_begin returned. */
void sigwait_end(const sigset_t *set);

/* Whether a missing number, and not a handler of the program, ended the calling
 * thread's wait with EINTR. REST is SET without our numbers. Another thread's
 * handler may be about to give the number back. */
bool sigwait_is_near(const sigset_t *set, const sigset_t *rest);

/* Note that descriptor FD of signalfd(2) is for REST, which is SET without our
 * numbers. */
void sigwait_by_descriptor(int fd, const sigset_t *set, const sigset_t *rest);

/* Add SIGNO to the sets of all waiters: it is the program's from now on. */
void sigwait_come(int signo);

#endif
