/* SPDX-License-Identifier: MIT */
/*
 * own_stack.h -- our own stack for the thread that ends the process. The work
 * at the end takes more room than a sample. The program's stack may have no
 * more (a coroutine's, an alternate one of 4 KiB).
 */
#ifndef AGENT_OWN_STACK_H
#define AGENT_OWN_STACK_H

/* Reserve the stack. Called again in the child of a fork. Context: any thread.
 */
void own_stack_begin(void);

/* Call FUNCTION with ARGUMENT on that stack. FUNCTION runs on the caller's
 * stack if there is no other, or a thread is on it already. So it does in a
 * process that only shares our memory. Signal handlers that interrupt FUNCTION
 * use the same stack. errno is that of FUNCTION. Context: any. */
void own_stack_run(void (*function)(void *), void *argument);

#endif
