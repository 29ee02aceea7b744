/* SPDX-License-Identifier: MIT */
/*
 * interrupted.h -- what a signal of ours has interrupted goes on as if none had
 * come, and still ends for a signal of the program's.
 */
#ifndef CAPTURE_INTERRUPTED_H
#define CAPTURE_INTERRUPTED_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* A wait of the calling thread under a mask of its own (ppoll, sigsuspend).
 * When a signal of the program's ends it and one of ours comes first, the
 * kernel takes back the mask before the other is delivered; then our handler
 * lets it stand (IS_LEFT), and who waited sets the ORIGINAL one. STACK is where
 * the waiting function stands. */
struct interrupted_wait {
    bool is_on, is_left;
    uint64_t mask, original, stack;
};
extern __thread volatile struct interrupted_wait interrupted_wait;

/* The number of the calling thread's last call of syscall(2). */
extern __thread volatile long interrupted_last_call;

/* At the end of our handler, which returns to CONTEXT: a signal of the
 * program's may be pending, and must find what it would have found alone: such
 * a wait, or a system call that it ends because its handler lacks SA_RESTART,
 * but which the kernel is about to make again for ours. And a wait for io_uring
 * that ours alone has ended is made again. */
void interrupted_by_ours(ucontext_t *context);

/* In our handler, which returns to CONTEXT: a signal came that the thread
 * blocks, as the program believes, and is sent again. A wait for descriptors
 * goes on, for as long as it was to last in the first place. */
void interrupted_in_vain(ucontext_t *context);

/* A signal has ended a call that CONTEXT stands behind, and another thread
 * handles it: the call is made again, where that does no harm. In handler. */
void interrupted_for_another(ucontext_t *context);

/* In our handler, before the program's is called for a signal that ends system
 * calls (no SA_RESTART): one that the kernel is about to make again, because
 * ours have SA_RESTART, ends. */
void interrupted_end_call(ucontext_t *context);

#endif
