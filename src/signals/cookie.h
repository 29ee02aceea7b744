/* SPDX-License-Identifier: MIT */
/*
 * cookie.h -- the code and the value of the signals that we queue. The handler
 * takes no other signal for ours. Context: any.
 */
#ifndef SIGNALS_COOKIE_H
#define SIGNALS_COOKIE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* si_code of our signals: negative, as a process may send it. No other sender
 * is known to use it. */
#define COOKIE_CODE (-0x5350)

/* si_value of a question: secret:16 | thread index:24 | sequence:24. */
#define COOKIE_BITS 24
#define COOKIE_MASK ((1u << COOKIE_BITS) - 1)

/* Reserved thread index: not a question, but an order to stand still until
 * ask_thaw. */
#define COOKIE_FREEZE COOKIE_MASK

/* Reserved thread index: the thread must make its mask real (signals_sync_in),
 * because a closed number was opened (signals_opened). The signal may end a
 * wait of the thread early. */
#define COOKIE_SETTLE (COOKIE_MASK - 1u)

/* Reserved thread index: a signal of the program that was sent on to the main
 * thread (stray.h). */
#define COOKIE_STRAY (COOKIE_MASK - 2u)

/* Reserved thread index: the thread must answer that no handler of ours is on
 * its alternate stack (alternate_answer). */
#define COOKIE_LEAVE (COOKIE_MASK - 3u)

/* 16 bits, drawn at the start. */
extern uint64_t cookie_secret;

/* Draw the secret. Called once: a timer's signal from before a fork may still
 * be on its way after it. */
void cookie_begin(void);

static inline uint64_t
cookie_make(uint32_t index, uint32_t sequence)
{
    return cookie_secret << 48 |
           (uint64_t)(index & COOKIE_MASK) << COOKIE_BITS |
           (sequence & COOKIE_MASK);
}

/* si_value of our timers and si_perf_data of our event: secret:16 | kind. The
 * handler takes such a signal for a thread's own sample, except COOKIE_WAKE. */
enum cookie_own {
    COOKIE_PERF = 0x50455246, /* any number that is not small */
    COOKIE_TIMER,
    COOKIE_TIMER_KERNEL, /* perf leaves out the kernel's time */
    COOKIE_WAKE,         /* no sample: the thread rings the bell */
};

static inline uint64_t
cookie_make_own(enum cookie_own kind)
{
    return cookie_secret << 48 | (uint64_t)kind;
}

/* Queue SIGNO with COOKIE to thread TID. Returns 0, or -errno. */
long cookie_send(pid_t tid, int signo, uint64_t cookie);

/* Send thread TID the order WHAT, one of the reserved indexes. Returns false if
 * it does not exist. */
bool cookie_order(pid_t tid, uint32_t what);

#endif
