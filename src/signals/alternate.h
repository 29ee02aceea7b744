/* SPDX-License-Identifier: MIT */
/*
 * alternate.h -- the alternate signal stacks of the program's threads
 * (sigaltstack(2)), and whether our signals may come there. The kernel puts a
 * signal's frame on such a stack before any of our code runs. Where it cannot
 * write, it raises SIGSEGV instead. It ends the process if SIGSEGV is blocked,
 * or fails, too. So once the program makes such a stack read-only, none of our
 * signals comes there.
 *
 * What the program does by raw system calls is not seen.
 */
#ifndef SIGNALS_ALTERNATE_H
#define SIGNALS_ALTERNATE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <ucontext.h>

#include "signals.h"

/* Note the alternate stack of the calling thread. The thread calls it after a
 * change of that stack, and again in the child of a fork. Context: any. */
void alternate_note(void);

/* Whether any thread may have an alternate stack. Context: any. */
bool alternate_is_any(void);

/* Whether SIZE bytes of MEMORY hold the part of an alternate stack that a
 * signal uses. Only stacks of living threads that our signals may use count
 * (alternate_leave). Context: any. */
bool alternate_is_in(const void *memory, size_t size);

/* Whether the calling thread is on its alternate stack. One system call.
 * Context: any. */
bool alternate_is_on(void);

/* From now on avoid alternate stacks; and whether they are avoided. Context:
 * any. */
void alternate_avoid(void);
bool alternate_is_avoided(void);

/* Wait until none of our signals is on the alternate stacks in SIZE bytes of
 * MEMORY, and none can come there. The caller has begun to avoid alternate
 * stacks, and set the handlers accordingly. Threads that run, or are in our
 * handler, get a signal, which they handle last. Returns at once without such a
 * stack. The wait for a thread ends after 1 s, for example if it has no CPU.
 * Opens a file where another thread has such a stack. Context: any. */
void alternate_leave(const void *memory, size_t size);

/* Answer the signal of alternate_leave in the calling thread. The handler
 * returns to CONTEXT. Context: handler. */
void alternate_answer(ucontext_t *context);

/* Whether ACTION is a handler on a stack that is avoided. */
static inline bool
alternate_is_apart(const struct sigaction *action)
{
    return alternate_is_avoided() && signals_is_handler(action) &&
           (action->sa_flags & SA_ONSTACK) != 0;
}

#endif
