/* SPDX-License-Identifier: MIT */
/*
 * errand.h -- what the sampler thread still does after its last sample: it
 * writes the profile for the thread that ends the process. Its descriptor
 * table, root and directory are its own, and no seccomp filter that the program
 * set on its own threads meets it; the ending thread only waits.
 */
#ifndef AGENT_ERRAND_H
#define AGENT_ERRAND_H

#include <stdbool.h>
#include <stdint.h>

/* A sampler begins: it does no errand yet. */
void errand_reset(void);

/* Let errand_run find the sampler. Before anybody is told that the journal has
 * ended. Context: sampler. */
void errand_offer(void);

/* Having offered: wait a moment for an errand, and do it. Context: sampler. */
void errand_serve(void);

/*
 * Have ERRAND called with ARGUMENT by the sampler, and wait for it, but no
 * longer than NS. If the sampler does not offer itself, or no more, the caller
 * does it. Returns whether it was done. One caller at a time; async-signal-safe
 * if ERRAND is.
 */
bool errand_run(void (*errand)(void *), void *argument, uint64_t ns);

#endif
