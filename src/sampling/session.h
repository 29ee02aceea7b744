/* SPDX-License-Identifier: MIT */
/*
 * session.h -- sampling from a start to a stop, any number of times. Between
 * two sessions no thread is interrupted and no clock is read. The functions
 * that other threads may call say so.
 * Context: sampler.
 */
#ifndef SAMPLING_SESSION_H
#define SAMPLING_SESSION_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/settings.h"
#include "process/modules.h"

/* The cause of a start or stop, which stands in the profile. */
enum session_by {
    SESSION_BY_OPTIONS, /* at the start, SPROF_DELAY, SPROF_DURATION */
    SESSION_BY_PROGRAM, /* sprof_start, sprof_stop */
    SESSION_BY_COMMAND, /* sprofile start, sprofile stop */
    SESSION_BY_FAULT,   /* the spool cannot be written */
    SESSION_BY_END,
};

/* Find the existing threads, and find out whether the trigger works. With
 * STARTS_NOW session_start follows at once, and the earlier time of young
 * threads belongs to the profile. Returns 0, or -errno if the wanted trigger
 * does not work here. */
int session_attach(const struct settings *settings, bool starts_now);

/* Begin to sample, if no session is on. Returns 0, or -errno as session_attach.
 */
int session_start(enum session_by by);

/* Stop sampling. The journal then has all that is known. */
void session_stop(enum session_by by);

/* Whether a session is on. Context: any thread. */
bool session_is_on(void);

/* session_announce is called before the sampler begins. IS_NEAR: the sampler
 * begins with a session. session_is_announced, which any thread may call:
 * whether IS_NEAR was set, or a session is on. */
void session_announce(bool is_near);
bool session_is_announced(void);

/* CLOCK_MONOTONIC time at which the present session is to end; UINT64_MAX: it
 * ends when it is stopped. */
uint64_t session_end(void);

/* ns of all sessions until NOW, with the present one. */
uint64_t session_sampled(uint64_t now);

/* All sessions that are over. */
struct session_past {
    uint64_t elapsed;   /* ns */
    bool was_displaced; /* the program has replaced one of our handlers */
    bool was_traced;    /* running threads were not sampled for a tracer */
};
const struct session_past *session_past(void);

/* While a session is on: session_sleep sleeps until the next instant, or until
 * IS_CALLED says that a request waits; session_tick then looks at the threads.
 */
void session_sleep(bool (*is_called)(void));
void session_tick(void);

/* Look for a tracer of the process, and change the triggers accordingly. */
void session_check_tracer(uint64_t now);

/* Write all answers so far, by a module map that is current. */
void session_harvest(void);

/* Write all that is known now into the journal. */
void session_flush(void);

/* The program ends: look at the threads that have run lately, except ENDER,
 * which ends it. So a wait that began after the last tick is seen. Called
 * before the threads are made to stand still, and takes little time. */
void session_look_last(pid_t ender);

/* MODULE was mapped, or (GONE) unmapped; see modules_begin. */
void session_on_module(const struct module *module, bool gone);

#endif
