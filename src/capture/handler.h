/* SPDX-License-Identifier: MIT */
/*
 * handler.h -- the target thread's half of a capture, and what it shares with
 * the sampler's half (suspend.c).
 */
#ifndef CAPTURE_HANDLER_H
#define CAPTURE_HANDLER_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/loss.h"
#include "base/sample.h"

/* si_code of our signals: negative, as from a process, and nobody else's. */
#define HANDLER_CODE (-0x5350)

/* si_value of a question: secret:16 | thread index:24 | sequence:24. */
#define COOKIE_BITS 24 /* as SUSPEND_SEQUENCES says */
#define COOKIE_MASK ((1u << COOKIE_BITS) - 1)

static inline uint64_t
cookie_make(uint64_t secret, uint32_t index, uint32_t sequence)
{
    return secret << 48 | (uint64_t)(index & COOKIE_MASK) << COOKIE_BITS |
           (sequence & COOKIE_MASK);
}

/* The index of a question that is none: the thread is to stand still. */
#define COOKIE_FREEZE COOKIE_MASK

/* Another: it is to make its mask real (settle_in). */
#define COOKIE_SETTLE (COOKIE_MASK - 1u)

/* No question: a signal of the program's that was sent on (stray.h). */
#define COOKIE_STRAY (COOKIE_MASK - 2u)

/* si_value of our timers and si_perf_data of our event: secret:16 | kind. */
enum handler_own {
    HANDLER_OWN_PERF = 0x50455246, /* any number that is not small */
    HANDLER_OWN_TIMER,
    HANDLER_OWN_TIMER_KERNEL, /* perf sees all but the kernel's time */
};

static inline uint64_t
cookie_make_own(uint64_t secret, enum handler_own kind)
{
    return secret << 48 | (uint64_t)kind;
}

/* How long a thread parks, at most. */
#define PARK_NS 10000000u

/* What a handler knows of the thread it interrupts. */
struct handler_thread {
    _Atomic uint64_t low, high, pointer; /* see suspend_set_stack */
    _Atomic uint64_t root;  /* as far as its stacks have reached, 0: unknown */
    _Atomic uint32_t asked; /* sequence that is on the way + 1, 0: none */
    _Atomic uint32_t refused;    /* last sequence without a sample, and above
                                  * COOKIE_BITS its enum loss */
    _Atomic uint32_t user_ticks; /* of a TIMER_KERNEL that were left to perf */
    _Atomic uint64_t rested_clock; /* as the handler's, without such words */
    _Atomic uint64_t measured;     /* see suspend_take_measured */
};

struct handler_shared {
    pid_t pid;
    uint64_t secret; /* 16 bits, drawn at the start */
    uint32_t thread_count;
    struct handler_thread *threads;
    /* Index + 1 of each tid below TID_COUNT, 0 if it has none yet. */
    const _Atomic uint32_t *index_of_tid;
    uint32_t tid_count;
    bool (*request)(const siginfo_t *); /* see suspend_options */
    bool registered_only;               /* other threads take no samples */
    uint64_t young; /* ns of CPU time before perf's first sample of a thread */
    /* Rung by those who park; the sampler sleeps on it. */
    _Atomic uint32_t bell;
    _Atomic uint32_t parks;  /* threads that have parked, ever */
    _Atomic uint32_t frozen; /* threads that were told to stand still do */
    /* Samples of threads' own clocks: since the last harvest, how many of them
     * ring the bell, and those that came to nothing, by enum loss. */
    _Atomic uint32_t own_taken, own_ring, own_lost[LOSS_COUNT];
};

extern struct handler_shared handler_shared;

/* The index of thread TID, SLOT_NO_THREAD if it has none. In handler. */
uint32_t handler_index_of(pid_t tid);

/* The thread has registered itself (handler_shared.registered_only). */
extern __thread volatile bool handler_thread_registered;

/* What the handler keeps of its thread, so that it need not make a system call,
 * which a seccomp filter of the program may forbid. On the thread itself: at
 * its beginning, or (IS_OLD) where its age does not matter, and again in the
 * child of a fork. */
void handler_know_thread(bool is_old);

/* The calling thread was given a stack that begins at START, in memory that may
 * have other stacks below it. Context: the new thread. */
void handler_know_stack(uint64_t start);

/* A sample of the thread's own clock comes to nothing. In handler. */
void handler_lose(enum loss cause);

/* Walk the stack of the calling thread, which CONTEXT describes, into SLOT, of
 * which the thread and the time are set, and give it to the sampler. HAS_WORDS:
 * base/words.h. */
struct slot;
void handler_fill(struct slot *slot, enum trigger trigger, bool has_words,
                  const ucontext_t *context);

/* What the kernel calls for all numbers that are ours (signals.h). */
void handler_run(int signo, siginfo_t *info, void *context);

#endif
