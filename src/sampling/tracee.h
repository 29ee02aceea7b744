/* SPDX-License-Identifier: MIT */
/*
 * tracee.h -- finds out whether the program's threads are traced (ptrace(2)).
 * Each signal stops a tracee, so its tracer would see our signals. That does no
 * harm to the debuggers that we know; but a program that traces its own child
 * counts what it sees.
 *
 * A thread that asks to be traced says so before (tracee_hold, in the hook). A
 * thread that a tracer attaches to is found by looking now and then.
 */
#ifndef SAMPLING_TRACEE_H
#define SAMPLING_TRACEE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/settings.h"

enum tracee {
    TRACEE_NOT,
    TRACEE_BY_TOOL,  /* by a debugger that hands our signals on */
    TRACEE_BY_OTHER, /* by a tracer that must see none of our signals */
};

/* Begin before there is a sampler. If the options leave the choice of the
 * trigger to us, no signals are sent while it is TRACEE_BY_OTHER; else no
 * thread waits for that. Context: start. */
void tracee_begin(const struct settings *settings);

/* Returns what is known of the tracer at NOW. Each call looks at the main
 * thread and sometimes at one thread more; it looks at none if the last look
 * was a moment ago.
 * Context: sampler. */
enum tracee tracee_look(uint64_t now);

/* What the last look found has taken effect: the threads that wait for that may
 * go on.
 * Context: sampler. */
void tracee_confirm(void);

/* Whether a thread waits for that. Context: any thread. */
bool tracee_is_wanted(void);

/* Whether it was TRACEE_BY_OTHER at the last look. Context: any thread. */
bool tracee_is_foreign(void);

/* Hold the calling thread around a call that makes it a tracee. We send a
 * tracee that is held no signal; after the hold the tracer can be seen.
 * tracee_hold waits up to one second for the sampler; if it returns true, the
 * caller calls tracee_release. Both keep errno.
 * Context: any. */
bool tracee_hold(void);
void tracee_release(void);

#endif
