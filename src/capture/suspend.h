/* SPDX-License-Identifier: MIT */
/*
 * suspend.h -- asks threads for their stacks, and is asked by them. A directed
 * signal makes a thread walk its own stack by rules into a slot; where a rule
 * is missing it parks until the sampler, on its side, has finished the walk, or
 * until its own deadline. The sampler never waits for a thread.
 */
#ifndef CAPTURE_SUSPEND_H
#define CAPTURE_SUSPEND_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "slot.h"

/* Sequences of questions are below this, and are taken anew after it. */
#define SUSPEND_SEQUENCES (1u << 24)

struct suspend_options {
    int signo;
    pid_t pid;          /* this process */
    uint32_t threads;   /* indexes are below this */
    uint32_t max_depth; /* frames kept for a stack */
    /* Read the module map anew, having emptied all slots that are DONE. Called
     * on the sampler, possibly while a thread is parked. */
    void (*refresh)(void);
    /* sigaction(2) itself, not a hook around it. */
    int (*sigaction)(int, const struct sigaction *, struct sigaction *);
};

/* Reserve everything and install the handler. Returns 0, or -1 with errno.
 * Called again in the child of a fork, with its pid. */
int suspend_begin(const struct suspend_options *options);

/* Ask thread TID for a sample; the slot will carry INDEX and SEQUENCE (below
 * 2^24). Returns 0, or -errno: ESRCH no such thread, EAGAIN too many signals
 * are queued (RLIMIT_SIGPENDING). Context: sampler. */
int suspend_ask(uint32_t index, pid_t tid, uint32_t sequence);

/* Whether the thread answered SEQUENCE without finding a free slot. */
bool suspend_was_refused(uint32_t index, uint32_t sequence);

/* The thread INDEX, while its thread pointer is POINTER, has its stack from LOW
 * to HIGH: memory that stays mapped while it lives. Context: sampler. */
void suspend_set_stack(uint32_t index, uint64_t low, uint64_t high,
                       uint64_t pointer);

/* Finish the walk of SLOT, which is DONE, in the copy of its stack, if a rule
 * was missing. Before its frames are used. Context: sampler. */
void suspend_finish(struct slot *slot);

/* Serve every parked thread. Context: sampler. */
void suspend_serve(void);

/* Sleep until the CLOCK_MONOTONIC time UNTIL (ns), or until a thread parks or
 * suspend_ring is called; parked threads are served. May return early: look
 * at the clock. Context: sampler. */
void suspend_wait(uint64_t until);

/* End a suspend_wait early. Any thread, in handler. */
void suspend_ring(void);

/* The program's own disposition of our signal: ACTION is stored if not NULL,
 * OLD filled if not NULL. Any thread. */
void suspend_program_action(const struct sigaction *action,
                            struct sigaction *old);

#endif
