/* SPDX-License-Identifier: MIT */
/*
 * phase.h -- the phase of the profiler's life in this process: one word, which
 * shows every hook whether it has anything to do. agent/lifecycle.c changes it,
 * and says why.
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

/* Context: any. */
enum phase phase_now(void);
void phase_set(enum phase phase);

/* Move from FROM to TO. Returns false, without effect, if the phase is not
 * FROM. */
bool phase_move(enum phase from, enum phase to);

/* Make the calling process the owner of the phase, and store its pid. */
void phase_begin(void);
pid_t phase_process(void);

/* Whether this process is being sampled. Context: any. */
bool phase_is_running(void);

/* Whether this process owns the phase. False in one that shares the owner's
 * memory, or has a copy of it. One system call. Context: any. */
bool phase_is_own(void);

/* The owner of the phase is about to forbid itself system calls, and sampling
 * has ended. From now on no function here makes a system call. A process that
 * shares our memory counts as this one, and signal sets count as readable. */
void phase_ask_no_more(void);
bool phase_may_ask(void);

/* The pid of the calling process, or the owner's where system calls are
 * forbidden. At most one system call. Context: any. */
pid_t phase_caller(void);

/* Whether this process or its parent was ever sampled: then our signals have
 * our handlers, for good. Context: any. */
bool phase_is_on(void);

#endif
