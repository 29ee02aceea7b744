/* SPDX-License-Identifier: MIT */
/*
 * ender.h -- the one thread that ends the profile. The end may come from any
 * thread, and from several at once: the first thread does it, and the others
 * wait.
 */
#ifndef AGENT_ENDER_H
#define AGENT_ENDER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* If sampling is on and no other thread ends it, call END with ARGUMENT.
 * Meanwhile no handler of the program runs on this thread, and our signal SIGNO
 * may come (mute_signals_handlers). Returns whether this thread called END.
 * Context: any. */
bool ender_run(void (*end)(void *), void *argument, int signo);

/* The thread that ends the profile, 0 while there is none. Context: any. */
pid_t ender_tid(void);

/* CLOCK_MONOTONIC (ns) when that thread began. */
uint64_t ender_since(void);

/* Wait until that thread has ended the profile. The wait has a deadline.
 * Context: any. */
void ender_wait(void);

/* If another thread ends the profile, wait for it. Without a profile to write,
 * that thread would have ended the process by now. So what the caller was about
 * to do has to be as much later. */
void ender_stay_behind(void);

/* If the calling thread ends the profile, keep SIGNO for its end: ender_defer
 * returns true, and ender_signal returns SIGNO, once. Context: any. */
bool ender_defer(int signo);
int ender_signal(void);

#endif
