/* SPDX-License-Identifier: MIT */
/*
 * shared.h -- what both halves of a capture read and write: the target threads
 * in their handlers (handler.c), and the sampler (ask.c, serve.c).
 */
#ifndef CAPTURE_SHARED_H
#define CAPTURE_SHARED_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/arch.h"
#include "base/loss.h"
#include "base/settings.h"

/* A call that may wait, made from one place in the program at one depth of its
 * stack, and the time that the thread has spent in it (waiting.h), in ns. */
struct shared_site {
    _Atomic uint64_t id; /* 0: none */
    _Atomic uint64_t ns, calls;
    /* Of the recent calls whose CPU time was read: their number, ns and CPU
     * ns. */
    _Atomic uint64_t read_calls, read_ns, read_cpu;
    uint64_t read_waits; /* those of them that did not return at once */
    /* Written by the sampler: another call may take the place of this one. */
    _Atomic bool is_old;
};

/* Limit of the sites of one thread. Calls at further sites have no time. */
#define SHARED_SITES 8u

/* The thread's own account of such calls. It alone writes this. */
struct shared_meter {
    _Atomic bool is_on; /* the sampler wants the account */
    _Atomic uint32_t site;
    _Atomic uint64_t since; /* start of its present call; 0: it is in no call */
    uint64_t cpu;           /* its CPU clock then; CLOCK_NONE: not read */
    uint32_t dice;          /* the last random number */
    struct shared_site sites[SHARED_SITES];
};

/* What a handler knows of the thread that it interrupts. */
struct shared_thread {
    _Atomic uint64_t low, high, pointer; /* see ask_set_stack */
    /* Twice the number of changes of these three. Odd: they are being changed.
     */
    _Atomic uint32_t version;
    /* Highest address that its stacks have reached. 0: not known. */
    _Atomic uint64_t root;
    /* Sequence of the question on its way + 1. 0: none. */
    _Atomic uint32_t asked;
    /* Last sequence without a sample. Above COOKIE_BITS: its enum loss. */
    _Atomic uint32_t refused;
    /* Expiries of a COOKIE_TIMER_KERNEL outside the kernel, which perf samples.
     */
    _Atomic uint32_t user_ticks;
    /* rested_clock of handler.c, for a thread without thread-local words. */
    _Atomic uint64_t rested_clock;
    _Atomic uint64_t measured; /* see serve_take_measured */
    /* Where it stands in a function that may wait (waiting.h). pc 0: nowhere.
     */
    struct {
        _Atomic uint64_t pc, sp, fp, link;
    } waits;
    struct shared_meter meter;
};

/* Threads that must stand still: they may go on, must stand, or may go on
 * soon. */
enum shared_frozen { SHARED_FREE, SHARED_FROZEN, SHARED_THAWING };

struct shared {
    pid_t pid;
    uint32_t thread_count;
    struct shared_thread *threads;
    /* How often the table of threads was begun, or a thread entered in it. */
    _Atomic uint32_t generation;
    /* Index + 1 of each tid below TID_COUNT; 0: no index yet. */
    const _Atomic uint32_t *index_of_tid;
    uint32_t tid_count;
    bool (*request)(const siginfo_t *); /* see handler_options */
    const struct settings *settings;
    _Atomic uint64_t period; /* ns of CPU time between two samples */
    /* The bell: threads that park ring it, and the sampler sleeps on it. */
    _Atomic uint32_t bell;
    _Atomic uint32_t parks; /* how often a thread has parked */
    /* A thread that leaves its stack to the sampler at this time or later rings
     * the bell, once (serve_hurry_from). 0: no thread does. */
    _Atomic uint64_t hurry_from;
    /* enum shared_frozen: what threads that must stand still do. */
    _Atomic uint32_t frozen;
    _Atomic uint64_t thawed; /* when they were let go */
    _Atomic pid_t ender;     /* the thread that ask_spare names, or 0 */
    /* Samples of threads' own clocks since the last harvest: their number, the
     * number that rings the bell, and those lost, by enum loss. */
    _Atomic uint32_t own_taken, own_ring, own_lost[LOSS_COUNT];
};

extern struct shared shared;

/* The calling thread has registered itself (settings_registered_only). */
extern __thread volatile bool shared_is_registered;

/* The entry of thread INDEX, or NULL if no thread can have that index. Context:
 * any. */
static inline struct shared_thread *
shared_thread_at(uint32_t index)
{
    return index < shared.thread_count ? &shared.threads[index] : NULL;
}

/* The index of thread TID, or SLOT_NO_THREAD if it has none. Context: any. */
uint32_t shared_index_of(pid_t tid);

/* Count a lost sample of a thread's own clock, under CAUSE. Context: any. */
void shared_lose(enum loss cause);

#endif
