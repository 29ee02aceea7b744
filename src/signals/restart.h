/* SPDX-License-Identifier: MIT */
/*
 * restart.h -- lets a call that our signal has interrupted go on as if no
 * signal had come. A signal of the program still ends it.
 */
#ifndef SIGNALS_RESTART_H
#define SIGNALS_RESTART_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* A wait of the calling thread under a mask of its own (ppoll, sigsuspend). A
 * signal of the program may end it while our signal comes first. The kernel
 * then puts back the thread's mask before it delivers the program's signal. So
 * our handler keeps the mask of the wait (IS_LEFT), and the waiting function
 * sets the ORIGINAL one. STACK is the stack pointer of the waiting function. */
struct restart_wait {
    bool is_on, is_left;
    uint64_t mask, original, stack;
};
extern __thread volatile struct restart_wait restart_wait;

/* The number of the calling thread's last call of syscall(2). */
extern __thread volatile long restart_last_call;

/* Called at the end of our handler, which returns to CONTEXT. A signal of the
 * program may be pending, and must find the same state as without ours. In such
 * a wait, the mask of the wait is kept. A system call may have been ended by
 * our signal, and the kernel is about to make it again. It ends if the
 * program's handler lacks SA_RESTART. A wait for io_uring that only our signal
 * has ended is made again. Context: handler. */
void restart_after_ours(ucontext_t *context);

/* Called in our handler, which returns to CONTEXT. A signal came that the
 * program believes to be blocked, and is sent again. A wait for descriptors
 * goes on for its whole original time. Context: handler. */
void restart_after_blocked(ucontext_t *context);

/* Repeat the call that a signal has ended, where that does no harm: another
 * thread handles the signal. CONTEXT is right after the call. Context: handler.
 */
void restart_for_another(ucontext_t *context);

/* Called in our handler, before the program's handler of a signal that ends
 * system calls (no SA_RESTART). The kernel may be about to make a call again,
 * because our handlers have SA_RESTART. That call ends with EINTR. Context:
 * handler. */
void restart_end_call(ucontext_t *context);

#endif
