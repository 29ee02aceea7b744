/* SPDX-License-Identifier: MIT */
/*
 * phase.h -- how far the life of the profiler is in this process: one word, by
 * which every hook knows whether it has anything to do. Who moves it is
 * agent/lifecycle.c, which says why.
 */
#ifndef BASE_PHASE_H
#define BASE_PHASE_H

#include <stdbool.h>
#include <sys/types.h>

enum phase {
    PHASE_OFF,
    PHASE_RUNNING,
    PHASE_ENDING,
    PHASE_ENDED,
    PHASE_ASIDE, /* for a while there is no sampler */
};

/* Any context, all of them. */
enum phase phase_now(void);
void phase_set(enum phase phase);

/* Go on from FROM to TO. Returns false, without effect, if it is not FROM. */
bool phase_move(enum phase from, enum phase to);

/* The calling process is the one that the phase is of; and its pid. */
void phase_begin(void);
pid_t phase_process(void);

/* Whether this process is being sampled. Any context. */
bool phase_is_running(void);

/* Whether this process is the one that was started, not one that shares its
 * memory or has a copy of it. One system call. Any context. */
bool phase_is_own(void);

/* Whether this process or its parent was ever sampled: then our signals have
 * our handlers, for good. Any context. */
bool phase_is_on(void);

#endif
