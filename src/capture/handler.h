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

/* si_code of our signals: negative, as from a process, and nobody else's. */
#define HANDLER_CODE (-0x5350)

/* si_value: secret:16 | thread index:24 | sequence:24. */
#define COOKIE_BITS 24 /* as SUSPEND_SEQUENCES says */
#define COOKIE_MASK ((1u << COOKIE_BITS) - 1)

static inline uint64_t
cookie_make(uint64_t secret, uint32_t index, uint32_t sequence)
{
    return secret << 48 | (uint64_t)(index & COOKIE_MASK) << COOKIE_BITS |
           (sequence & COOKIE_MASK);
}

/* How long a thread parks, at most. */
#define PARK_NS 10000000u

/* What a handler knows of the thread it interrupts. */
struct handler_thread {
    _Atomic uint64_t low, high, pointer; /* see suspend_set_stack */
    _Atomic uint64_t root; /* as far as its stacks have reached, 0: unknown */
    _Atomic uint32_t refused; /* last sequence that found no free slot */
    uint32_t reserved;
};

struct handler_shared {
    pid_t pid;
    int signo;
    uint64_t secret; /* 16 bits, drawn at the start */
    int (*sigaction)(int, const struct sigaction *, struct sigaction *);
    uint32_t thread_count;
    struct handler_thread *threads;
    _Atomic uint32_t
        bell; /* rung by those who park; the sampler sleeps on it */
    /* The program's own disposition, in the one of two that current names. */
    struct sigaction program[2];
    _Atomic uint32_t current;
};

extern struct handler_shared handler_shared;

/* What the program believes of the calling thread's mask, for our signal alone:
 * whether it BLOCKS the number, and whether one that is not ours was HELD back
 * for that. Static TLS: reading it is one load, in a handler too. */
struct handler_thread_mask {
    volatile bool blocks, held;
};
extern __thread struct handler_thread_mask handler_thread_mask;

/* Install the handler for handler_shared.signo, keeping the disposition that
 * was there for the program. Returns 0, or -1 with errno. */
int handler_install(void);

#endif
