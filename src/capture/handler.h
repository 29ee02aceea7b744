/* SPDX-License-Identifier: MIT */
/*
 * handler.h -- the target thread's half of a capture, and the data that it
 * shares with the sampler's half (suspend.c).
 */
#ifndef CAPTURE_HANDLER_H
#define CAPTURE_HANDLER_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/loss.h"
#include "base/settings.h"
#include "base/sample.h"
#include "signals/cookie.h"

/* si_value of our timers and si_perf_data of our event: secret:16 | kind. */
enum handler_own {
    HANDLER_OWN_PERF = 0x50455246, /* any number that is not small */
    HANDLER_OWN_TIMER,
    HANDLER_OWN_TIMER_KERNEL, /* perf leaves out the kernel's time */
};

static inline uint64_t
cookie_make_own(enum handler_own kind)
{
    return cookie_secret << 48 | (uint64_t)kind;
}

/* How long a thread parks at most, in ns. */
#define PARK_NS 10000000u

/* What a handler knows of the thread that it interrupts. */
struct handler_thread {
    _Atomic uint64_t low, high, pointer; /* see suspend_set_stack */
    /* Highest address that its stacks have reached. 0: not known. */
    _Atomic uint64_t root;
    /* Sequence of the question on its way + 1. 0: none. */
    _Atomic uint32_t asked;
    /* Last sequence without a sample. Above COOKIE_BITS: its enum loss. */
    _Atomic uint32_t refused;
    /* Expiries of a TIMER_KERNEL outside the kernel, which perf samples. */
    _Atomic uint32_t user_ticks;
    /* rested_clock of handler.c, for a thread without thread-local words. */
    _Atomic uint64_t rested_clock;
    _Atomic uint64_t measured; /* see suspend_take_measured */
};

struct handler_shared {
    pid_t pid;
    uint32_t thread_count;
    struct handler_thread *threads;
    /* Index + 1 of each tid below TID_COUNT, 0 if it has none yet. */
    const _Atomic uint32_t *index_of_tid;
    uint32_t tid_count;
    bool (*request)(const siginfo_t *); /* see suspend_options */
    const struct settings *settings;
    /* Threads that park ring it. The sampler sleeps on it. */
    _Atomic uint32_t bell;
    _Atomic uint32_t parks;  /* how often a thread has parked */
    _Atomic uint32_t frozen; /* 1: threads that were told to stand still do */
    /* Samples of threads' own clocks since the last harvest: their number, the
     * number that rings the bell, and those lost, by enum loss. */
    _Atomic uint32_t own_taken, own_ring, own_lost[LOSS_COUNT];
};

extern struct handler_shared handler_shared;

/* The index of thread TID, or SLOT_NO_THREAD if it has none. Context: any. */
uint32_t handler_index_of(pid_t tid);

/* The calling thread has registered itself (settings_registered_only). */
extern __thread volatile bool handler_thread_registered;

/* Renew what the handler keeps of the calling thread, so that it need not ask
 * the kernel. A seccomp filter of the program may forbid that. The thread
 * itself calls this at its beginning, and again in the child of a fork. IS_OLD:
 * its age does not matter. Context: any thread. */
void handler_know_thread(bool is_old);

/* The calling, new thread was given a stack that begins at START. Other stacks
 * may lie below it in the same memory. Context: hook. */
void handler_know_stack(uint64_t start);

/* Count a sample of a thread's own clock that is lost, under CAUSE. Context:
 * any. */
void handler_lose(enum loss cause);

/* Walk the stack of the calling thread into SLOT, and give SLOT to the sampler.
 * CONTEXT has the thread's registers. The caller has set the thread and the
 * time in SLOT. HAS_WORDS says whether the thread has thread-local words
 * (base/words.h). May park for PARK_NS. Context: any. */
struct slot;
void handler_fill(struct slot *slot, enum trigger trigger, bool has_words,
                  const ucontext_t *context);

/* The handler of all signal numbers that are ours (signals.h). Context:
 * handler. */
void handler_run(int signo, siginfo_t *info, void *context);

#endif
