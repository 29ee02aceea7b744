/* SPDX-License-Identifier: MIT */
/*
 * session.h -- sampling, from a start to a stop, as often as that is wanted;
 * between two sessions nothing interrupts a thread and no clock is read.
 * Sampler thread alone, but for session_is_on.
 */
#ifndef AGENT_SESSION_H
#define AGENT_SESSION_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/options.h"
#include "target/modules.h"

struct session_options {
    pid_t pid;
    enum option_trigger trigger;
    uint64_t period;    /* ns */
    uint64_t budget;    /* percent of one CPU for the sampler */
    uint64_t duration;  /* ns that one session takes, 0: until it is stopped */
    bool has_own_files; /* the program cannot close what we open */
    bool registered_only;
    bool is_child;               /* of a fork */
    uint64_t since, clock, base; /* of the first thread: struct
                                  * sampler_options */
};

/* Who starts or stops: it stands in the profile. */
enum session_by {
    SESSION_BY_OPTIONS, /* at the start, SPROF_DELAY, SPROF_DURATION */
    SESSION_BY_PROGRAM, /* sprof_start, sprof_stop */
    SESSION_BY_COMMAND, /* sprofile start, sprofile stop */
    SESSION_BY_FAULT,   /* the spool cannot be written */
    SESSION_BY_END,
};

/* Find out who is there, and whether the trigger works. With STARTS_NOW
 * session_start follows at once, and what young threads did before it belongs
 * to the profile. Returns 0, or -errno if the trigger that is wanted does not
 * work here. */
int session_attach(const struct session_options *options, bool starts_now);

/* Begin to sample, if that is not so. Returns 0, or -errno as session_attach.
 */
int session_start(enum session_by by);

/* Nothing is sampled any more, and what is known is in the journal. */
void session_stop(enum session_by by);

/* Any thread. */
bool session_is_on(void);

/* Before the sampler has begun: a session is the first thing that it does, if
 * IS_NEAR. And whether that, or one, is so: any thread. */
void session_announce(bool is_near);
bool session_is_announced(void);

/* CLOCK_MONOTONIC when the session that is on is to end; UINT64_MAX: when that
 * is wanted. */
uint64_t session_end(void);

/* ns of all sessions until NOW. */
uint64_t session_sampled(uint64_t now);

/* ns of all sessions that are over. */
uint64_t session_elapsed(void);

/* The program has replaced a handler of ours in one of them. */
bool session_was_displaced(void);

/* Threads that ran were not sampled for a tracer's sake. */
bool session_was_traced(void);

/* While it is on: sleep until the next instant, or until IS_CALLED says that
 * somebody wants something; and look at the threads. */
void session_sleep(bool (*is_called)(void));
void session_tick(void);

/* See whether somebody traces the process, and do what follows from it. */
void session_check_tracer(uint64_t now);

/* Write all answers so far, by a module map that is true. */
void session_harvest(void);

/* Let the journal show all that is known now. */
void session_flush(void);

/* A module has come or gone (modules_begin). */
void session_on_module(const struct module *module, bool gone);

/* Read the module map anew. */
void session_refresh_modules(void);

#endif
