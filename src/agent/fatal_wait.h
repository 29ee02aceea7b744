/* SPDX-License-Identifier: MIT */
/*
 * fatal_wait.h -- who waits for a signal that would end the process.
 *
 * By default such a signal ends the process when it is sent, if the thread that
 * the kernel gives it to does not block it: the main thread, if that does not.
 * Nobody can wait for it (kernel/signal.c, complete_signal). With our handler
 * in place of the default action (fatal.h) it lies in a queue for a moment, and
 * a thread in sigtimedwait(2) or a reader of signalfd(2) could take it.
 *
 * Context of all: any thread with words of its own (base/words.h), in handlers
 * too. errno stays.
 */
#ifndef AGENT_FATAL_WAIT_H
#define AGENT_FATAL_WAIT_H

#include <signal.h>
#include <stdbool.h>

/* The calling thread waits for SET: of that *MINE is what it may be given. It
 * is not given what it does not block itself. */
void fatal_wait_begin(const sigset_t *set, sigset_t *mine);

/* It was given SIGNO. Does not return if that ends the process, because the
 * main thread does not block it; unless a debugger took it away (true). */
bool fatal_wait_ends(int signo, siginfo_t *info);

/* A descriptor of signalfd(2) is made for SET: of that *MINE is what it may be
 * for, now. The rest is added by fatal_wait_recheck. */
void fatal_wait_descriptor(const sigset_t *set, sigset_t *mine);

/* The calling thread has blocked signals, or the main thread leaves (IS_LEFT):
 * what no thread takes any more is for those that wait for it. */
void fatal_wait_recheck(bool is_left);

#endif
