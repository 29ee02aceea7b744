/* SPDX-License-Identifier: MIT */
/*
 * own_stack.h -- a stack of our own for the thread that ends the process: what
 * is done then takes more room than a sample, and the program's stack may have
 * no more (a coroutine's, an alternate one of 4 KiB).
 */
#ifndef AGENT_OWN_STACK_H
#define AGENT_OWN_STACK_H

#include "store/layout.h"

/* Reserve it. Again in the child of a fork. Any thread. */
void own_stack_begin(void);

/* Call FUNCTION with ARGUMENT: on that stack, or on the caller's if there is
 * none, if a thread is there already, or in a process that only shares our
 * memory. Signal handlers that interrupt FUNCTION use the same stack. errno is
 * the function's. Any thread, in a handler. */
void own_stack_run(void (*function)(void *), void *argument);

/* lifecycle_end there, if it has anything to do. */
void own_stack_end(enum end_reason reason);

#endif
