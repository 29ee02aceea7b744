/* SPDX-License-Identifier: MIT */
/*
 * slot.h -- the slots in which samples are made. A fixed set is reserved before
 * the first sample. A handler claims a slot, and the sampler empties it.
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
 * Where both may move a slot, one exchange decides. The sampler also frees a
 * slot whose handler was left by a jump (serve_reclaim).
 */
#ifndef CAPTURE_SLOT_H
#define CAPTURE_SLOT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "unwind/script.h"
#include "unwind/trace_context.h"
#include "unwind/walk.h"

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
    uint32_t sequence; /* of the question, from its cookie */
    uint32_t stopped;  /* ns in the handler */
    uint32_t owed;     /* samples of the thread that were lost before it */
    uint32_t label;    /* the thread's labels, 0: none (labels/labels.h) */
    struct trace_context context; /* span 0: none */
    uint64_t time;                /* CLOCK_MONOTONIC at the handler's start */
    uint64_t clock;  /* the thread's CPU clock then, or CLOCK_NONE */
    uint64_t kernel; /* the part of it that the kernel used, or CLOCK_NONE */
    uint64_t sp;     /* where the thread was interrupted */
    /* The thread's own stack, if SP is in it and the thread is known; else both
     * are 0. */
    uint64_t low, high;
    /* Address of the handler's mark (nested.h). 0: it has set none yet. */
    _Atomic uint64_t mark;
    /* 0: the thread has no thread-local words (base/words.h). */
    uint64_t thread_pointer;
    uint64_t measured; /* of TRIGGER_HOOK: ns of CPU time */
    int cpu;           /* of TRIGGER_ASK: on which the thread ran */
    /* Where the thread was interrupted. */
    struct arch_registers registers;
    uint8_t trigger; /* enum trigger */
    bool parked;     /* the thread had to wait */
    bool missed;     /* the handler could not finish the walk by rules */
    bool unfinished; /* serve_finish must be called before the walk is used */
    bool in_syscall; /* the pc is behind a system call instruction */
    struct walk walk;
    struct script script; /* frames of an interpreter, for the walk */
    uint8_t *window;      /* VIEW_WINDOW bytes for a view */
    uint8_t *heap_window; /* HEAP_VIEW_WINDOW bytes for a view of its data */
    uint8_t *copy;        /* SLOT_COPY bytes for a copy of the stack */
    uint8_t *stack;       /* the copy: at COPY, or in the sampler's memory */
    uint64_t copy_start;  /* the address it was copied from: the red zone */
    uint32_t copied;      /* bytes in the copy; 0: there is none */
    /* The id of the newest module in the map that the walk used. 0: the map was
     * current; else it may have been old. */
    uint32_t newest;
    uint32_t unloads; /* the last unload (process/unloads.h) */
};

/* The index of a thread that is not in the sampler's table yet. */
#define SLOT_NO_THREAD UINT32_MAX

/* Largest rest of a stack that is copied, in bytes, with the red zone below the
 * stack pointer. When a rule is missing, such a copy saves the thread from
 * parking. */
#define SLOT_COPY (64u << 10)

/* How long a thread parks at most, in ns. */
#define PARK_NS 10000000u

/* Reserve COUNT slots of MAX_DEPTH frames each, all FREE. Returns 0, or -1 if
 * memory is short. A second call, after a fork, frees the same slots. */
int slots_begin(uint32_t count, uint32_t max_depth);

/* Claim a free slot. The search begins at slot HINT, modulo the number of
 * slots. Returns NULL if no slot that was tried is free. Takes no lock.
 * Context: handler. */
struct slot *slots_claim(uint32_t hint);

/* Begin to fetch into the caches what slots_claim of the same HINT will need.
 * Context: handler. */
void slots_fetch(uint32_t hint);

/* Move SLOT from FROM to TO. Returns false if it was not in FROM. Context: any
 * thread. */
bool slot_move(struct slot *slot, enum slot_state from, enum slot_state to);

/* How many slots there are. */
uint32_t slots_all(void);

/* The slots that were ever claimed are those at 0 to slots_used() - 1. */
uint32_t slots_used(void);
struct slot *slots_at(uint32_t i);

/* Memory for a list of all slots, by number. Context: sampler. */
uint16_t *slots_list(void);

/* Make SLOT free. No handler uses it any more. Context: sampler. */
void slot_free(struct slot *slot);

#endif
