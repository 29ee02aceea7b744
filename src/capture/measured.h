/* SPDX-License-Identifier: MIT */
/*
 * measured.h -- the CPU time of a call that cannot be sampled: one in which no
 * signal of ours is sent, and the kernel hears of none before its end. A hook
 * measures it, and takes one sample that stands for just this time, with the
 * stack of the hook's caller. Context of all: the calling thread, outside of
 * handlers; it has thread-local words (base/words.h).
 */
#ifndef CAPTURE_MEASURED_H
#define CAPTURE_MEASURED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arch.h"

struct measured {
    uint64_t time;  /* CLOCK_MONOTONIC ns at the beginning */
    uint64_t clock; /* the thread's CPU clock then */
    uint64_t cpu;   /* ns of CPU time, at the end */
    uint64_t shown; /* ns that the sample stands for: CPU, and what is owed */
};

/* The call begins. Until its end the thread's clock brings no samples: one that
 * the kernel has held back would count the same time again. */
void measured_begin(struct measured *measured);

/* It has ended; or the thread is the copy that a fork has made of it. */
void measured_end(struct measured *measured);
void measured_forget(void);

/* Take the sample, of a stack that begins with AT (arch_entry). May wait for
 * the sampler, as a handler does. */
void measured_take(const struct measured *measured, const struct regs *at);

/* The calling thread makes such a call. In handler. */
bool measured_is_on(void);

#endif
