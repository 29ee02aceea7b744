/* SPDX-License-Identifier: MIT */
/*
 * ending_signals.h -- the signals that end a program by default and are a usual
 * way to end it: SIGINT, SIGTERM, SIGHUP. While the program leaves such a
 * signal at its default action, our handler stands there. The handler has the
 * profile written, and then lets the signal do what it would have done.
 *
 * The file also has the signals that end a program because of its own error, if
 * SPROF_DUMP_ON names them: the stacks of all threads are printed first. A
 * program that sets its own handler, or ignores the signal, gets the signal
 * alone. A program that asks for the disposition is told what it set itself.
 */
#ifndef AGENT_ENDING_SIGNALS_H
#define AGENT_ENDING_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

#include "base/options.h"

/* End the profile because SIGNO has come. Returns whether SIGNO is to end the
 * process now. Otherwise another thread ends the process by SIGNO. Context:
 * any.
 */
typedef bool ending_signals_end_process(int signo);

/* Put our handler where the default action is (signals/disposition.h). The
 * handler calls END. Called again in the child of a fork. Context: any thread.
 */
void ending_signals_begin(const struct options *options,
                          ending_signals_end_process *end);

/* Do what our handler does for SIGNO, which has come to the calling thread by
 * another way, with INFO. Returns as ending_signals_die does. */
void ending_signals_take(int signo, siginfo_t *info);

/* Let SIGNO end the process by its default action. Returns only if the signal
 * was taken away, as a debugger does. Context: any. */
void ending_signals_die(int signo);

/* Find out whether one of the signals is still pending, though a thread would
 * take it and had the time for it. The parent in a vfork(2) takes none until
 * its child has executed. If so, let the signal end the process. Called about
 * once a second. Context: sampler. */
void ending_signals_watch(void);

#endif
