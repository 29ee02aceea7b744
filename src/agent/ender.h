/* SPDX-License-Identifier: MIT */
/*
 * ender.h -- the one thread that ends the profile. The end may come from any
 * thread, and from several at once: the first does it, the others wait.
 */
#ifndef AGENT_ENDER_H
#define AGENT_ENDER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* If sampling is on and no other thread ends it: END is called with ARGUMENT.
 * Meanwhile no handler of the program runs on this thread, and SIGNO, which is
 * ours, may come (hush_handlers). Returns whether this thread was the one. Any
 * context. */
bool ender_run(void (*end)(void *), void *argument, int signo);

/* The thread that ends the profile, 0 while there is none. Any context. */
pid_t ender_tid(void);

/* CLOCK_MONOTONIC when it began. */
uint64_t ender_since(void);

/* Wait until it has done so, but not for ever. In a handler. */
void ender_wait(void);

/* If it is another thread, wait for it. But for what it has to write, it would
 * have ended the process by now: what the caller was about to do comes as much
 * later. */
void ender_stay_behind(void);

/* If it is the calling thread, SIGNO is for its end: returns true, and
 * ender_signal returns SIGNO, once. In a handler. */
bool ender_defer(int signo);
int ender_signal(void);

/* In the child of a fork: nobody ends anything. */
void ender_forget(void);

#endif
