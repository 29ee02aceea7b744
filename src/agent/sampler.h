/* SPDX-License-Identifier: MIT */
/*
 * sampler.h -- the sampler thread: enumerates threads, asks those that moved,
 * harvests their slots into the journal. All signals but the one that carries
 * requests are blocked in it, and it is never sampled.
 */
#ifndef AGENT_SAMPLER_H
#define AGENT_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/options.h"
#include "base/rate.h"
#include "store/layout.h"

struct sampler_options {
    int signo;
    int control_signal; /* that carries requests, 0: none does */
    pid_t pid;
    uint32_t max_depth;
    enum option_trigger trigger;
    uint64_t period, delay, duration; /* ns; duration 0: no end */
    uint64_t start;                   /* CLOCK_MONOTONIC ns */
    uint64_t keep;                    /* ns of the past, 0: all */
    uint64_t budget;                  /* percent of one CPU for the sampler */
    bool cpu_only;                    /* only threads that are running */
    bool registered_only;             /* only threads that registered */
    bool is_child; /* after fork: the thread's clock begins at 0 */
    bool waits;    /* for somebody to start it */
    /* The program's first thread is in the profile from SINCE on
     * (CLOCK_MONOTONIC, 0: from when it is first seen), when its CPU clock read
     * CLOCK; what it used before that counts from BASE. */
    uint64_t since, clock, base;
    bool keeps_all; /* a spool without samples, too */
    /* Make the journal, on the sampler's thread. What an earlier image told of
     * the first thread's CPU clock moves *BASE. Returns 0, or -1. */
    int (*open)(uint64_t *base);
};

struct sampler_result {
    uint64_t taken, lost, threads, asked;
    uint64_t lost_by[LOSS_COUNT];
    struct rate rate;  /* of running threads, and */
    uint64_t ran;      /* samples of those, which TAKEN has with all others */
    uint64_t wanted;   /* a CPU second */
    uint64_t elapsed;  /* ns of sampling */
    uint64_t cpu;      /* ns of the sampler thread */
    uint64_t keep;     /* as in the options */
    int keep_error;    /* errno for which the past could not be put aside */
    uint64_t cut;      /* samples in spools that somebody shortened */
    int error;         /* errno that ended the spool before its time, or 0 */
    int trigger_error; /* errno for which the trigger does not work, or 0 */
    bool is_short_of_memory; /* there was none to begin with */
    bool is_blind;           /* the kernel does not tell where threads wait */
    bool is_displaced;       /* the program replaced a handler of ours */
    bool is_traced;          /* threads were not sampled for a tracer's sake */
};

/* Reserve memory, install the handler. Returns 0, or -1 with errno. Called
 * again in the child of a fork. */
int sampler_prepare(const struct sampler_options *options);

/* Then make the thread, which begins by itself. Returns 0, or -1 with errno. To
 * end the profile before that is possible: then there will be no thread. */
int sampler_launch(void);

/* Sampling begins when it pays (doze.h). Let it begin now, and wait until
 * threads can be interrupted, some 0.3 ms: what the caller is about to do is
 * seen from its first moment. Any thread. */
void sampler_hurry(void);

/* It has not begun, and is not to: nothing was sampled, and there is nothing to
 * stop. With IS_LEFT its thread has left, too. False if it has begun. */
bool sampler_cancel(bool is_left);

/* Stop sampling, answer what is outstanding or count it as lost, end the
 * journal with REASON. Waits for the thread, but not for ever: returns 0, or -1
 * if it did not end in time (the spool is then as after a kill). Not from the
 * sampler thread, unless it has left its loop. */
int sampler_stop(enum end_reason reason, struct sampler_result *result);

/* Nothing in flight: no signal is sent, and every thread asked has answered or
 * had its time, until sampler_resume. Calls nest. Bounded wait. */
void sampler_pause(void);
void sampler_resume(void);

/* In the child of a fork: the thread is not there. */
void sampler_forget(void);

#endif
