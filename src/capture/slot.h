/* SPDX-License-Identifier: MIT */
/*
 * slot.h -- where a sample is made: a fixed set of slots, reserved before the
 * first sample, which handlers claim and the sampler empties.
 *
 *                 target                    sampler
 *   FREE     ---> CLAIMED
 *   CLAIMED  ---> DONE, or PARKED
 *   PARKED   ---> CLAIMED (deadline)   or   SERVING
 *   SERVING  ---> LEFT (deadline)      or   SERVED
 *   SERVED   ---> DONE
 *   LEFT     --------------------------->   DONE
 *   DONE     --------------------------->   CLAIMED, then FREE
 *
 * Where both may move, one exchange decides.
 */
#ifndef CAPTURE_SLOT_H
#define CAPTURE_SLOT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/ucontext.h>

#include "walk.h"

enum slot_state {
    SLOT_FREE,
    SLOT_CLAIMED,
    SLOT_PARKED,
    SLOT_SERVING,
    SLOT_SERVED,
    SLOT_LEFT,
    SLOT_DONE,
};

struct slot {
    _Atomic uint32_t state; /* enum slot_state; a futex while PARKED */
    uint32_t thread;        /* index of the thread, or SLOT_NO_THREAD */
    pid_t tid;
    uint32_t sequence; /* of the question, from the cookie */
    uint32_t stopped;  /* ns in the handler */
    uint32_t label;    /* the thread's labels, 0: none (agent/labels.h) */
    uint64_t time;     /* CLOCK_MONOTONIC at the handler's start */
    uint64_t clock;    /* the thread's CPU clock then, or CLOCK_NONE */
    uint64_t sp;       /* where the thread was interrupted */
    /* Of the handler (nested.h); 0: it has made none yet. */
    _Atomic uint64_t mark;
    /* 0: the thread has no words of its own (base/words.h). */
    uint64_t thread_pointer;
    uint64_t measured;   /* of a TRIGGER_HOOK: ns of CPU time */
    int cpu;             /* on which the thread ran */
    gregset_t registers; /* where the thread was interrupted */
    uint8_t trigger;     /* enum trigger */
    bool parked;         /* it had to wait */
    bool unfinished;     /* the walk goes on in the copy of the stack */
    bool in_syscall;     /* the pc is behind a system call instruction */
    struct walk walk;
    uint8_t *window;     /* VIEW_WINDOW bytes for a view */
    uint8_t *copy;       /* SLOT_COPY bytes: the stack from the red zone on */
    uint64_t copy_start; /* address of the first of them */
    uint32_t copied;     /* bytes in it */
};

/* The thread is not in the sampler's table yet. */
#define SLOT_NO_THREAD UINT32_MAX

/* A stack of which no more than this remains to be walked is copied when a rule
 * is missing, so that the thread need not wait for it. */
#define SLOT_COPY (64u << 10)
#define SLOT_RED_ZONE 128u

/* Reserve COUNT slots of MAX_DEPTH frames each, all FREE. Returns 0, or -1 if
 * memory is short. Called again (after fork): the same memory, emptied. */
int slots_begin(uint32_t count, uint32_t max_depth);

/* Claim a free slot, looking first where HINT says. NULL: none is free.
 * Context: target thread, in handler. Safe in signals. Locks: none. */
struct slot *slots_claim(uint32_t hint);

/* Move SLOT from FROM to TO. False if it was not in FROM. Any thread. */
bool slot_move(struct slot *slot, enum slot_state from, enum slot_state to);

/* The slots that were ever claimed are 0 to slots_used() - 1. */
uint32_t slots_used(void);
struct slot *slots_at(uint32_t i);

/* Give SLOT, which the sampler has CLAIMED, back. Context: sampler. */
void slot_free(struct slot *slot);

#endif
