/* SPDX-License-Identifier: MIT */
/*
 * ending_waits.h -- threads that wait for a signal that would end the process.
 *
 * By default such a signal ends the process at once, unless the thread that
 * gets it from the kernel blocks it. That is the main thread, if the main
 * thread does not block it. No thread can wait for it (kernel/signal.c,
 * complete_signal). With our handler in place of the default action
 * (ending_signals.h) the signal is pending for a moment. A thread in
 * sigtimedwait(2) or a reader of signalfd(2) could take it then.
 *
 * The calling thread has thread-local words (base/words.h). errno is kept.
 * Context: any.
 */
#ifndef AGENT_ENDING_WAITS_H
#define AGENT_ENDING_WAITS_H

#include <signal.h>
#include <stdbool.h>

/* The calling thread is about to wait for SET. *MINE becomes the part of SET
 * that it may be given. A signal that it does not block itself is not given to
 * it. */
void ending_waits_begin(const sigset_t *set, sigset_t *mine);

/* The calling thread was given SIGNO. If that ends the process, because the
 * main thread does not block it, this does not return. It returns true if a
 * debugger took the signal away. */
bool ending_waits_ends(int signo, siginfo_t *info);

/* A descriptor of signalfd(2) is about to be made for SET. *MINE becomes the
 * part of SET that it may be for now. ending_waits_recheck adds the rest. */
void ending_waits_descriptor(const sigset_t *set, sigset_t *mine);

/* The calling thread has blocked signals, or the main thread leaves (IS_LEFT).
 * Signals that no thread takes any more are given to those that wait for them.
 */
void ending_waits_recheck(bool is_left);

#endif
