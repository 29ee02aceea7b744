/* SPDX-License-Identifier: MIT */
/*
 * ending_signals.h -- the signals that end a program by default and are a usual
 * way to end it: SIGINT, SIGTERM, SIGHUP. While the program leaves such a
 * signal at its default action, our handler is installed. The handler has the
 * profile written, and then lets the signal do what it would have done.
 *
 * The file also has the signals that end a program because of its own error, if
 * SPROF_DUMP_ON names them: the stacks of all threads are printed first. A
 * program that sets its own handler, or ignores the signal, gets the signal
 * alone. A program that reads the disposition gets its own.
 *
 * The file also handles threads that wait for a signal that would end the
 * process. By default such a signal ends the process at once, unless the thread
 * that gets it from the kernel blocks it. That is the main thread, if the main
 * thread does not block it. No thread can wait for it (kernel/signal.c,
 * complete_signal). With our handler in place of the default action the signal
 * is pending for a moment. A thread in sigtimedwait(2) or a reader of
 * signalfd(2) could take it then.
 */
#ifndef AGENT_ENDING_SIGNALS_H
#define AGENT_ENDING_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

#include "base/options.h"

/* End the profile because SIGNO has come. Returns whether SIGNO is to end the
 * process now. Otherwise another thread ends the process by SIGNO. Context:
 * any. */
typedef bool ending_signals_end_process(int signo);

/* Put our handler in place of the default action (signals/disposition.h). The
 * handler calls END. Called again in the child of a fork. Context: any thread.
 */
void ending_signals_begin(const struct options *options,
                          ending_signals_end_process *end);

/* Let SIGNO end the process by its default action. Returns only if the signal
 * was taken away, as a debugger does. Context: any. */
void ending_signals_die(int signo);

/* Find out whether one of the signals is still pending, though a thread would
 * take it and had the time for it. The parent in a vfork(2) takes none until
 * its child has executed. If so, let the signal end the process. Called about
 * once a second. Context: sampler. */
void ending_signals_watch(void);

/* The calling thread is about to wait for SET. *MINE becomes the part of SET
 * that it may get. It does not get a signal that it does not block. */
void ending_signals_wait(const sigset_t *set, sigset_t *mine);

/* The calling thread was given SIGNO. If that ends the process, because the
 * main thread does not block it, this does not return. It returns true if a
 * debugger took the signal away. */
bool ending_signals_ends(int signo, siginfo_t *info);

/* A descriptor of signalfd(2) is about to be made for SET. *MINE becomes the
 * part of SET that it may have for now. ending_signals_recheck adds the
 * rest. */
void ending_signals_descriptor(const sigset_t *set, sigset_t *mine);

/* The calling thread has blocked signals, or the main thread leaves (IS_LEFT).
 * Signals that no thread takes any more are given to those that wait for them.
 */
void ending_signals_recheck(bool is_left);

/* Call FUNCTION with ARGUMENT on our own stack: the work at the end takes more
 * room than a sample, which the program's stack may not have (a coroutine's, an
 * alternate one of 4 KiB). FUNCTION runs on the caller's stack if ours does not
 * exist or is in use, and in a process that only shares our memory. Signal
 * handlers that interrupt FUNCTION use the same stack. errno is that of
 * FUNCTION. Context: any. */
void ending_signals_run_apart(void (*function)(void *), void *argument);

#endif
