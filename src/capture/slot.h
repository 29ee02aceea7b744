/* SPDX-License-Identifier: MIT */
/*
 * slot.h -- the slots in which samples are made. A fixed set is reserved before
 * the first sample. A handler claims a slot, and the sampler empties it.
 *
 *             target moves it to   sampler moves it to   it stays for
 *   FREE      CLAIMED                                    any time
 *   CLAIMED   DONE, or PARKED      FREE (jump)           the walk
 *   PARKED    CLAIMED (deadline)   SERVING               PARK_NS
 *   SERVING   LEFT (deadline)      SERVED                half of PARK_NS
 *   SERVED    CLAIMED              FREE (jump)           the way to a CPU
 *   LEFT                           DONE                  half of PARK_NS
 *   DONE                           TAKEN                 a tick
 *   TAKEN                          FREE, or DONE         the harvest
 *
 * Where both may move a slot, one exchange decides. A handler may be left by a
 * jump; then the sampler frees its slot once a second (serve_reclaim). A thread
 * that is stopped in its handler keeps its slot while it is stopped. For some
 * stores a thread has a slot without a mark; no handler of the program runs
 * then.
 *
 * The state word also has the slot's generation, which slot_free changes. A
 * handler moves a slot only while it has the generation that the handler
 * claimed. So a slot that was taken from it, as in the child of a fork, stays
 * as it is.
 *
 * Each move gives the slot to the other side: the exchange is a release, and
 * pairs with the acquire of the exchange that takes the slot.
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
    SLOT_TAKEN,
};

/* The bits of a state word that hold its enum slot_state. The others are the
 * generation, which returns to the same number after 2^29 uses of the slot. */
#define SLOT_STATES 7u

struct slot {
    _Atomic uint32_t state; /* with its generation; a futex while PARKED */
    uint32_t thread;        /* index of the thread, or SLOT_NO_THREAD */
    pid_t tid;
    uint32_t sequence; /* of the question, from its cookie */
    uint32_t stopped;  /* ns in the handler */
    uint32_t owed;     /* samples of the thread that were lost before it */
    uint32_t label;    /* the thread's labels, 0: none (labels/labels.h) */
    struct trace_context context; /* span 0: none */
    uint64_t time; /* CLOCK_MONOTONIC at the start of the handler or the call */
    /* CLOCK_MONOTONIC when the thread began to fill it: later than TIME in
     * measured.h. */
    uint64_t entered;
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
    int cpu;           /* of TRIGGER_ASK: the CPU on which the thread ran */
    /* Where the thread was interrupted. */
    struct arch_registers registers;
    uint8_t trigger; /* enum trigger */
    bool parked;     /* the thread had to wait */
    bool missed;     /* the handler could not finish the walk by rules */
    bool unfinished; /* serve_finish must be called before the walk is used */
    bool in_syscall; /* the pc is after a system call instruction */
    struct walk walk;
    struct script script; /* frames of an interpreter, for the walk */
    uint8_t *window;      /* VIEW_WINDOW bytes for a view */
    uint8_t *heap_window; /* HEAP_VIEW_WINDOW bytes for a view of its data */
    uint8_t *copy;        /* SLOT_COPY bytes for a copy of the stack */
    uint8_t *stack;       /* the copy: at COPY, or in the sampler's memory */
    uint64_t copy_start;  /* the address it was copied from: the red zone */
    uint32_t copied;      /* bytes in the copy; 0: no copy */
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

/* Longest time for which a thread parks, in ns. */
#define PARK_NS 10000000u

/* Reserve COUNT slots of MAX_DEPTH frames each, all FREE. Returns 0, or -1 if
 * memory is short. A second call, after a fork, frees the same slots, except
 * those whose handlers go on in the child (nested_note_fork). */
int slots_begin(uint32_t count, uint32_t max_depth);

/* Claim a free slot. The search begins at slot HINT, modulo the number of
 * slots. Returns NULL if no slot that was tried is free. Takes no lock.
 * Context: handler. */
struct slot *slots_claim(uint32_t hint);

/* Begin to fetch into the caches what slots_claim of the same HINT will need.
 * Context: handler. */
void slots_fetch(uint32_t hint);

/* The state of the state word WORD. Context: any. */
static inline enum slot_state
slot_state(uint32_t word)
{
    return (enum slot_state)(word & SLOT_STATES);
}

/* Whether SLOT is in STATE. The caller then sees what the side that moved it
 * there has written. Context: any. */
static inline bool
slot_is_in(const struct slot *slot, enum slot_state state)
{
    return slot_state(atomic_load_explicit(&slot->state,
                                           memory_order_acquire)) == state;
}

/* The generation of SLOT, which the calling handler has just claimed. Context:
 * handler. */
static inline uint32_t
slot_generation(const struct slot *slot)
{
    return atomic_load_explicit(&slot->state, memory_order_relaxed) &
           ~SLOT_STATES;
}

/* Move SLOT from FROM to TO. Returns false if it was not in FROM, or not of
 * GENERATION. Context: any. */
bool slot_pass(struct slot *slot, uint32_t generation, enum slot_state from,
               enum slot_state to);

/* The same for any generation. Context: sampler. */
bool slot_move(struct slot *slot, enum slot_state from, enum slot_state to);

/* The number of slots. */
uint32_t slots_all(void);

/* The slots that were ever claimed are those at 0 to slots_used() - 1. */
uint32_t slots_used(void);
struct slot *slots_at(uint32_t i);

/* Memory for a list of all slots, by number. Context: sampler. */
uint16_t *slots_list(void);

/* Make SLOT free. No handler uses it any more. Context: sampler. */
void slot_free(struct slot *slot);

#endif
