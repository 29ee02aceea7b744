/* SPDX-License-Identifier: MIT */
/*
 * alternate.h -- the alternate signal stacks of the program's threads
 * (sigaltstack(2)), and whether signals of ours may come there. The kernel puts
 * a signal's frame on such a stack before any code of ours runs; where it
 * cannot write, it raises SIGSEGV instead, and ends the process if that is
 * blocked or fails, too. So once the program makes such a stack read-only,
 * nothing of ours comes there.
 *
 * What the program does by raw system calls is not seen.
 */
#ifndef CAPTURE_ALTERNATE_H
#define CAPTURE_ALTERNATE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include "signals.h"

/* Note the alternate stack of the calling thread: after it was changed, and
 * again in the child of a fork. Any thread, in handler. */
void alternate_note(void);

/* Whether there may be any. Any context. */
bool alternate_is_any(void);

/* Whether SIZE bytes of MEMORY hold what a signal uses of an alternate stack,
 * of a thread that lives. Any thread, in handler. */
bool alternate_is_in(const void *memory, size_t size);

/* Whether the calling thread is on its own. One system call. Any thread, in
 * handler. */
bool alternate_is_on(void);

/* From now on alternate stacks are avoided, and whether they are. Any thread,
 * in handler. */
void alternate_avoid(void);
bool alternate_is_avoided(void);

/* Whether ACTION is a handler on a stack that is avoided. */
static inline bool
alternate_is_apart(const struct sigaction *action)
{
    return alternate_is_avoided() && signals_is_handler(action) &&
           (action->sa_flags & SA_ONSTACK) != 0;
}

#endif
