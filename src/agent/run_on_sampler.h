/* SPDX-License-Identifier: MIT */
/*
 * run_on_sampler.h -- runs a function on the sampler thread after its last
 * sample. It writes the profile there for the thread that ends the process. The
 * sampler has its own descriptor table, root and directory. A seccomp filter
 * that the program set on its own threads does not apply to it. The ending
 * thread only waits.
 */
#ifndef AGENT_RUN_ON_SAMPLER_H
#define AGENT_RUN_ON_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>

/* Let run_on_sampler find the sampler. Called before any thread is told that
 * the journal has ended. Context: sampler. */
void run_on_sampler_offer(void);

/* After the offer: wait a moment for a function to run, and run it. Context:
 * sampler. */
void run_on_sampler_serve(void);

/*
 * Have the sampler call FUNCTION with ARGUMENT, and wait for that, but no
 * longer than NS. If the sampler does not offer itself, or no longer does, the
 * caller calls FUNCTION. Returns whether it was done. One caller at a time.
 * Async-signal-safe if FUNCTION is.
 */
bool run_on_sampler(void (*function)(void *), void *argument, uint64_t ns);

#endif
