/* SPDX-License-Identifier: MIT */
/*
 * serve.h -- the sampler's half of a capture. Where a thread's walk by rules
 * misses a rule, the thread leaves a copy of its stack, or parks. A parked
 * thread waits until the sampler has finished the walk, or until its own
 * deadline. The sampler never waits for a thread.
 */
#ifndef CAPTURE_SERVE_H
#define CAPTURE_SERVE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/loss.h"
#include "slot.h"

/* Begin: no thread holds the sampler, and it does not sleep. Context: start. */
void serve_begin(void);

/* Begin to harvest the threads' own samples. From now on the bell rings after
 * EVERY more of them. LOST becomes the number of own samples, by cause, that
 * were lost since the last call. */
void serve_begin_harvest(uint32_t every, uint32_t lost[LOSS_COUNT]);

/* How many own samples may wait for the harvest without a ring. The other slots
 * suffice until the sampler has a CPU. */
uint32_t serve_waiting_most(void);

/* Let the bell ring when EVERY own samples have come since the last harvest. */
void serve_ring_every(uint32_t every);

/* The first stack that is left to the sampler after TIME (CLOCK_MONOTONIC, ns)
 * rings the bell; 0: no stack does. Context: sampler. */
void serve_hurry_from(uint64_t time);

/* Whether that stack was left. Context: sampler. */
bool serve_is_hurried(void);

/* Whether the own samples since the last harvest are as many as ring the bell.
 */
bool serve_is_due(void);

/* Whether any slot is in use. */
bool serve_has_samples(void);

/* The expiries of thread INDEX's kernel-only timer that came outside the
 * kernel, since the last call. */
uint32_t serve_take_user_ticks(uint32_t index);

/* ns of CPU time that hooks have measured in thread INDEX (measured.h), since
 * the last call. A fork is counted before the sampler goes on after that fork.
 * Context: sampler. */
uint64_t serve_take_measured(uint32_t index);

/* Take back the slots whose handlers were left by a jump. NOW is
 * CLOCK_MONOTONIC, in ns. Their own samples are counted as lost. The caller
 * does this about once a second. Context: sampler. */
void serve_reclaim(uint64_t now);

/* Finish the walk of SLOT, which is unfinished: confirm the frames that were
 * found by an old module map, and walk on in the copy of the stack if there is
 * one. Returns false if the caller must first read the module map again, and
 * then repeat the call. A map that was read at SINCE (CLOCK_MONOTONIC, ns) or
 * later is new enough. Context: sampler. */
bool serve_finish(struct slot *slot, uint64_t since);

/* The map is about to be read again. If code on the stack of SLOT, which is
 * unfinished, was unloaded since the present map was read, its walk ends here:
 * only the present map knows its frames. Returns whether it has ended. Context:
 * sampler. */
bool serve_give_up(struct slot *slot);

/* Whether the walk of a parked thread has needed a newer module map since the
 * last call. Context: sampler. */
bool serve_is_map_wanted(void);

/* Serve every parked thread, which is in the window meanwhile. The module map
 * stays as it is. Context: sampler. */
void serve_parked(void);

/* Sleep until the CLOCK_MONOTONIC time UNTIL (ns), until a thread parks, or
 * until ask_ring is called. Parked threads are served. It may return early,
 * so the caller looks at the clock. Context: sampler. */
void serve_wait(uint64_t until);

/* The same, but do not sleep if IS_CALLED returns true: a request waits. NULL
 * stands for a function that returns false. A thread that makes its request
 * later, and then calls ask_ring, ends the sleep. Context: sampler.
 */
void serve_wait_unless(bool (*is_called)(void), uint64_t until);

/* Keep the sampler in a serve_wait until serve_release, as around a fork.
 * Meanwhile the sampler changes nothing and holds no lock. A sampler that
 * sleeps is not woken for this. The caller waits for a busy sampler until the
 * CLOCK_MONOTONIC time UNTIL (ns), and no longer, because the program must not
 * wait for us. The sampler is then held when it next sleeps. Calls nest. A
 * serve_release without a serve_hold does nothing. Every thread but the
 * sampler may call both. Context: any. */
void serve_hold(uint64_t until);
void serve_release(void);

/* Stop holding the sampler, until the profile begins anew: the sampler is to
 * end. The thread that stops it may be in a signal handler that interrupted a
 * fork, so its own hold would never end. Context: any. */
void serve_end_holds(void);

/* Whether a thread holds the sampler, or is about to. Context: sampler. */
bool serve_is_held(void);

/* Whether the sampler was kept from going on since the last call. Context:
 * sampler. */
bool serve_was_held(void);

#endif
