/* SPDX-License-Identifier: MIT */
/*
 * origin.h -- who sent a signal: our timers and events, the sampler, a
 * debugger, or somebody else. Context of all: the target thread, in handler.
 */
#ifndef CAPTURE_ORIGIN_H
#define CAPTURE_ORIGIN_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "handler.h"

/* Whether one of our timers or events did, and its data in *KIND. */
bool origin_is_own_clock(int signo, const siginfo_t *info,
                         enum handler_own *kind);

/* Whether the sampler did, and its question in *COOKIE. */
bool origin_is_question(const siginfo_t *info, uint64_t *cookie);

/* The same where the words of the question were lost on the way, and which it
 * was: where too many signals are queued (RLIMIT_SIGPENDING), the kernel still
 * sends one below SIGRTMIN, but as if kill(2) had, and from nobody. */
bool origin_is_bare_question(const siginfo_t *info, uint64_t *cookie);

/* Whether a debugger did: one that kept a signal of ours while it did something
 * else (ltrace) gives it back as its own. */
bool origin_is_tracer(const siginfo_t *info);

/* Whether a signal that a thread has taken from its queue is one of ours. */
bool origin_is_ours(int signo, const siginfo_t *info);

#endif
