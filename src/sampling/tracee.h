/* SPDX-License-Identifier: MIT */
/*
 * tracee.h -- finds out whether the program's threads are traced (ptrace(2)).
 * Each signal stops a tracee, so its tracer would see our signals. That does no
 * harm with the debuggers that we know. But a program that traces its own child
 * may count the stops.
 *
 * A thread that asks to be traced says so before (tracee_hold, in the hook).
 * Looks now and then find a thread to which a tracer attaches.
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
 * trigger to us, no signals are sent during TRACEE_BY_OTHER. Otherwise no
 * thread waits for that. Context: start. */
void tracee_begin(const struct settings *settings);

/* Returns the tracer's kind at NOW. Each call looks at the main thread, and
 * sometimes at one more thread. It looks at none if the last look was a moment
 * ago.
 * Context: sampler. */
enum tracee tracee_look(uint64_t now);

/* The result of the last look has taken effect: the threads that wait for that
 * may go on.
 * Context: sampler. */
void tracee_confirm(void);

/* Whether a thread waits for that. Context: any thread. */
bool tracee_is_wanted(void);

/* Whether the last look found TRACEE_BY_OTHER. Context: any thread. */
bool tracee_is_foreign(void);

/* Hold the calling thread around a call that makes it a tracee. We send a
 * tracee that is held no signal; after the hold the tracer can be seen.
 * tracee_hold waits up to one second for the sampler; if it returns true, the
 * caller calls tracee_release. Both keep errno.
 * Context: any. */
bool tracee_hold(void);
void tracee_release(void);

#endif
