/* SPDX-License-Identifier: MIT */
/*
 * roster.h -- the roster of threads: which threads exist, which have come and
 * which have gone. It begins and ends the time of each thread (thread_time.h).
 * Context: sampler.
 */
#ifndef SAMPLING_ROSTER_H
#define SAMPLING_ROSTER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/settings.h"

/* Least ns between two readings of the list of threads when nothing seems to
 * have changed. */
#define ROSTER_NS 100000000u

/* Begin an empty roster. The calling thread is never on it. If STARTS_NOW, the
 * threads that exist are sampled from their beginning. */
void roster_begin(const struct settings *settings, bool starts_now);

/* Enter the existing threads, and make them ready for the trigger. Called after
 * trigger_begin and before trigger_enable. */
void roster_prepare(void);

/* Sampling begins at NOW, for the first time or again. If IS_LATE, earlier
 * times of the threads are not shown. Called after trigger_enable. */
void roster_start(uint64_t now, bool is_late);

/* Update the roster, once a tick. Reads the ends that threads reported. Reads
 * the list of threads, too, if it may have changed and the reading can be
 * afforded. */
void roster_update(uint64_t now);

/* Begin the time of the threads that have registered since the last call
 * (registry.h). */
void roster_add_registered(void);

/* Give all threads their trigger again. */
void roster_rearm(void);

/* Whether threads were made since the last call. */
bool roster_has_new(void);

/* Whether the calling thread is the only thread left. */
bool roster_is_alone(void);

/* Number of threads so far. */
uint32_t roster_total(void);

/* An epoch begins (epoch.h): threads that were never seen are counted anew. */
void roster_begin_epoch(void);

/* The journal is rotated at NOW. roster_before_rotate, called before that,
 * writes what belongs into the present file. roster_after_rotate, called after
 * it, begins to count anew. Sampling goes on meanwhile. */
void roster_before_rotate(uint64_t now);
void roster_after_rotate(void);

/* End sampling at NOW: write the end of all threads. Threads are only counted
 * until roster_start. A second call does nothing. */
void roster_end(uint64_t now);

#endif
