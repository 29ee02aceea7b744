/* SPDX-License-Identifier: MIT */
/*
 * measured.h -- the CPU time of a call that cannot be sampled. During such a
 * call we send no signal, and the kernel delivers none before its end. A hook
 * measures the call. It then takes one sample for exactly this time, with the
 * stack of the hook's caller. The calling thread has thread-local words
 * (base/words.h), and is in no handler. Context: hook.
 */
#ifndef CAPTURE_MEASURED_H
#define CAPTURE_MEASURED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arch.h"

struct measured {
    uint64_t time;  /* CLOCK_MONOTONIC ns at the beginning */
    uint64_t clock; /* the thread's CPU clock then */
    uint64_t cpu;   /* ns of CPU time that the call took */
    /* weight of the sample in ns: this CPU time, and the rest from shorter
     * calls */
    uint64_t shown;
};

/* Begin to measure a call. Until its end the thread's clock gives no samples: a
 * signal that the kernel has held back would count the same time again. */
void measured_begin(struct measured *measured);

/* End the measurement: with a result, or in the child of a fork without one. */
void measured_end(struct measured *measured);
void measured_forget(void);

/* Take the sample of the stack that begins with AT (arch_entry). May wait for
 * the sampler for PARK_NS, as a handler does. */
void measured_take(const struct measured *measured, const struct regs *at);

/* Whether the calling thread makes such a call. Context: handler. */
bool measured_is_on(void);

#endif
