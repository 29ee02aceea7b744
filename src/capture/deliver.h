/* SPDX-License-Identifier: MIT */
/*
 * deliver.h -- a signal of a number that is or was ours (signals.h), but not
 * one that we sent, is given to the program as if it had no profiler.
 */
#ifndef CAPTURE_DELIVER_H
#define CAPTURE_DELIVER_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* Let the program's disposition of SIGNO act. In our handler, which returns to
 * CONTEXT. */
void deliver_to_program(int signo, siginfo_t *info, ucontext_t *context);

/* A wait of the calling thread under a mask of its own (ppoll, sigsuspend).
 * When a signal of the program's ends it and one of ours comes first, the
 * kernel takes back the mask before the other is delivered; then our handler
 * lets it stand (IS_LEFT), and who waited sets the ORIGINAL one. */
struct deliver_wait {
    bool is_on, is_left;
    uint64_t mask, original;
};
extern __thread volatile struct deliver_wait deliver_wait;

/* The number of the calling thread's last call of syscall(2). */
extern __thread volatile long deliver_last_call;

/* At the end of our handler, which returns to CONTEXT: a signal of the
 * program's may be pending, and must find what it would have found alone: such
 * a wait, or a system call that it ends because its handler lacks SA_RESTART,
 * but which the kernel is about to make again for ours. And a wait for io_uring
 * that ours alone has ended is made again. */
void deliver_after_ours(ucontext_t *context);

#endif
