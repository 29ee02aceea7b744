/* SPDX-License-Identifier: MIT */
/*
 * origin.h -- what sent a signal: our timers and events, the sampler, a
 * debugger, or another sender. Context: handler.
 */
#ifndef CAPTURE_ORIGIN_H
#define CAPTURE_ORIGIN_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "signals/cookie.h"

/* Whether one of our timers or events sent it. *KIND becomes which. */
bool origin_is_own_clock(int signo, const siginfo_t *info,
                         enum cookie_own *kind);

/* Whether the sampler sent it. *COOKIE becomes its question. */
bool origin_is_question(const siginfo_t *info, uint64_t *cookie);

/* The same, for a question whose cookie was lost on the way. *COOKIE becomes
 * the question that was on its way to this thread. Where too many signals are
 * queued (RLIMIT_SIGPENDING), the kernel still sends one below SIGRTMIN. It
 * then looks as if kill(2) had sent it, without a sender. */
bool origin_is_bare_question(const siginfo_t *info, uint64_t *cookie);

/* Whether a debugger sent it. A debugger (ltrace) may hold back our signal
 * while it does something else, and then send it as its own. */
bool origin_is_tracer(const siginfo_t *info);

/* Whether SIGNO, which a thread has taken from its queue with INFO, is ours. */
bool origin_is_ours(int signo, const siginfo_t *info);

#endif
