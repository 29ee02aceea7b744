/* SPDX-License-Identifier: MIT */
/*
 * handler.h -- the target thread's half of a capture; shared.h has the data
 * that it shares with the sampler's half (ask.h, serve.h).
 */
#ifndef CAPTURE_HANDLER_H
#define CAPTURE_HANDLER_H

#include <signal.h>
#include <stdbool.h>

/* Renew what the handler keeps of the calling thread, so that it need not ask
 * the kernel. A seccomp filter of the program may forbid that. The thread
 * itself calls this at its beginning, and again in the child of a fork. IS_OLD:
 * its age does not matter. Context: any thread. */
void handler_know_thread(bool is_old);

/* The handler of all signal numbers that are ours (signals.h). Context:
 * handler. */
void handler_run(int signo, siginfo_t *info, void *context);

#endif
