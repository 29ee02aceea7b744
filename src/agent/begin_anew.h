/* SPDX-License-Identifier: MIT */
/*
 * begin_anew.h -- the initial state of a profile, except variables that are 0
 * (base/state.h): at the start, when sampling goes on after a pause, and in the
 * child of a fork. The sampler's thread itself prepares what costs memory or
 * time (equip in sampler.c, journal_begin, session_attach).
 */
#ifndef AGENT_BEGIN_ANEW_H
#define AGENT_BEGIN_ANEW_H

#include "base/settings.h"
#include "ending_signals.h"

/* In the child of a fork, sampled or not: forget what only the parent has. */
void begin_anew_in_child(void);

/* Prepare all that other threads and handlers use. Our signals are not handled
 * meanwhile. Returns 0, or -1 with errno. */
int begin_anew(const struct settings *settings);

/* Take the calling thread and the signals as they are now; END: see
 * ending_signals_begin. Called after begin_anew, with the thread's own mask. */
void begin_anew_signals(const struct settings *settings,
                        ending_signals_end_process *end);

#endif
