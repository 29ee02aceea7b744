/* SPDX-License-Identifier: MIT */
/*
 * awaited.h -- who waits for all signals, and so has not been given the numbers
 * that are ours (signals.h): threads in sigtimedwait(2) and descriptors of
 * signalfd(2). When such a number becomes the program's, because one of its own
 * has come, they wait for that, too. What does not find a place here (some tens
 * are enough for everybody) does not.
 *
 * Context of all: any thread, in handlers too. errno stays.
 */
#ifndef CAPTURE_AWAITED_H
#define CAPTURE_AWAITED_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* The calling thread is about to wait for REST, which is SET without what is
 * ours. Returns where the set is that it shall wait for, which grows while it
 * waits: it is woken for that by a signal of ours, with EINTR. NULL if there is
 * no place. */
const sigset_t *awaited_begin(const sigset_t *set, const sigset_t *rest);

/* It has waited; SET is what awaited_begin returned. */
void awaited_end(const sigset_t *set);

/* The calling thread's wait for REST, which is SET without what is ours, has
 * ended with EINTR: whether that was for a missing number that has come (it may
 * be another thread's handler that is about to give it back), and not for a
 * handler of the program's. */
bool awaited_is_near(const sigset_t *set, const sigset_t *rest);

/* Descriptor FD of signalfd(2) is for REST, which is SET without what is ours.
 */
void awaited_by_descriptor(int fd, const sigset_t *set, const sigset_t *rest);

/* SIGNO is the program's from now on. */
void awaited_come(int signo);

#endif
