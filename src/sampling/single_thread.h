/* SPDX-License-Identifier: MIT */
/*
 * single_thread.h -- whether libc takes the process for one with a single
 * thread. While there is only one, malloc and fork of libc take no locks. So a
 * handler may fork on top of malloc. And code that counts references need not
 * do so atomically (sys/single_threaded.h). The sampler's thread is a second
 * one. But it shares no data of libc, nor of any other library, with the
 * program: it neither allocates, nor takes a mutex that others take. So libc
 * keeps its belief as long as the program itself has made no thread.
 *
 * In one case libc must know the truth: it repeats a setuid in other threads
 * only if it believes that they exist (credentials.h).
 */
#ifndef SAMPLING_SINGLE_THREAD_H
#define SAMPLING_SINGLE_THREAD_H

#include <stdbool.h>

/* Find the variables of libc. Called before our first thread is made.
 * Context: start. */
void single_thread_begin(void);

/* Whether libc believes that there is one thread. Context: any. */
bool single_thread_is_believed(void);

/* Let libc believe in several threads; or (IS_SINGLE) in one again, unless the
 * program has made a thread. Only the caller and our thread exist.
 * Context: any. */
void single_thread_believe(bool is_single);

/* Called in the child of a fork, before our thread is made there. */
void single_thread_after_fork(void);

/* The program is about to make a thread. Context: any thread. */
void single_thread_end(void);

#endif
