/* SPDX-License-Identifier: MIT */
/*
 * fatal.h -- the signals that end a program by default and are a usual way to
 * end it: SIGINT, SIGTERM, SIGHUP. While the program leaves one at its default
 * action, we have a handler there, which has the profile written and then lets
 * the signal do what it would have done. And those that end it by an error of
 * its own, if SPROF_DUMP_ON names them: the stacks of all threads are printed
 * first. A program that sets a handler of its
 * own, or ignores the signal, has it for itself; whoever asks is told what the
 * program set.
 */
#ifndef AGENT_FATAL_H
#define AGENT_FATAL_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Put our handler where the default action is, but not for the signal EXCEPT,
 * which is ours already; of those that print stacks, for DUMPS (signal N is bit
 * N - 1). Again in the child of a fork. Any thread. */
void fatal_begin(int except, uint64_t dumps);

/* Alternate stacks are avoided from now on (capture/alternate.h). Any thread,
 * in handler. */
void fatal_avoid_alternate(void);

/* Give the signals back to the program, for good. Any thread. */
void fatal_end(void);

/*
 * sigaction(2) for SIGNO, if it is one of those signals and the profiler has
 * begun; false if it is not, and nothing was done. Any thread, a child of vfork
 * too; async-signal-safe.
 */
bool fatal_action(int signo, const struct sigaction *action,
                  struct sigaction *old);

/* Whether it is one of those signals, and the profiler has begun. */
bool fatal_is_kept(int signo);

/* Whether SIGNO comes to our handler now. */
bool fatal_is_installed(int signo);

/* SIGNO has come to the calling thread by another way, with INFO: do what our
 * handler does. Returns as fatal_die does. */
void fatal_take(int signo, siginfo_t *info);

/* Let SIGNO end the process by its default action. Returns only if something
 * (a debugger) took the signal away. Any context. */
void fatal_die(int signo);

/* Look whether one of the signals has been waiting for its handler for longer
 * than a thread needs to come to it, though one would take it: the parent in a
 * vfork(2) does not, until its child has executed. Then let the signal end the
 * process. Context: sampler, about once a second. */
void fatal_watch(void);

#endif
