/* SPDX-License-Identifier: MIT */
/*
 * roll.h -- the roll of threads: who is there, who has come, who has gone, and
 * what their accounts begin and end with. Sampler thread alone.
 */
#ifndef AGENT_ROLL_H
#define AGENT_ROLL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* ns between two readings of the list when nothing seems to have changed. */
#define ROLL_NS 100000000u

struct roll_options {
    pid_t pid;
    bool is_child;      /* of a fork: its thread's clock is ours from 0 on */
    bool has_own_files; /* the program cannot close what we open */
    bool registered_only;
    bool starts_now; /* what is there already is sampled from its beginning */
    /* Of the first thread: struct sampler_options. */
    uint64_t since, clock, base;
};

/* Begin an empty roll. The calling thread is never on it. */
void roll_begin(const struct roll_options *options);

/* Enter the threads that are there, and make them ready for the trigger. After
 * trigger_begin, before trigger_enable. */
void roll_prepare(void);

/* Sampling begins at NOW, for the first time or again; if IS_LATE, what the
 * threads did before is not shown. After trigger_enable. */
void roll_start(uint64_t now, bool is_late);

/* Once a tick: those that have ended by their own account, and the list of
 * threads if it may have changed and can be afforded. */
void roll_call(uint64_t now);

/* Give all threads their trigger anew. */
void roll_rearm(void);

/* Threads were made since the last call of this. */
bool roll_has_new(void);

/* None but the calling thread is left. */
bool roll_is_alone(void);

/* Threads so far. */
uint32_t roll_total(void);

/* At NOW the journal goes on in another file: write what is to be in this one
 * (roll_turn, before), and begin to count anew (roll_go_on, after). Sampling
 * goes on meanwhile. */
void roll_turn(uint64_t now);
void roll_go_on(void);

/* Write the end of all: sampling is over, and threads are only counted until
 * roll_start. A second call does nothing. */
void roll_end(uint64_t now);

#endif
