/* SPDX-License-Identifier: MIT */
/*
 * single_thread.h -- what libc believes of the number of threads. While there
 * is but one, its malloc and fork take no locks, so that a handler may fork on
 * top of malloc; and whoever counts references need not do so atomically
 * (sys/single_threaded.h). With the sampler there are two, but that one shares
 * no data of libc, nor of any other library, with the program: it neither
 * allocates, nor takes a mutex that others take. So as long as the program
 * itself has made no thread, libc is left in its belief.
 *
 * Where that must not be: libc has other threads repeat a setuid only if it
 * believes that there are some (credentials.h).
 */
#ifndef AGENT_SINGLE_THREAD_H
#define AGENT_SINGLE_THREAD_H

#include <stdbool.h>

/* Find where libc keeps it. Before the first thread of ours. */
void single_thread_begin(void);

/* Whether libc believes in one thread. Any context. */
bool single_thread_is_believed(void);

/* It does not any more, or does again, unless the program has made a thread.
 * The caller is the only thread but for ours. Any context. */
void single_thread_deny(void);
void single_thread_believe(void);

/* In the child of a fork, before a thread of ours is made. */
void single_thread_after_fork(void);

/* The program is about to make a thread. Any thread. */
void single_thread_end(void);

#endif
