/* SPDX-License-Identifier: MIT */
/*
 * sampler.h -- the sampler thread. It enumerates threads, asks those that
 * moved, and harvests their slots into the journal. It blocks all signals
 * except the one for requests, and is never sampled.
 */
#ifndef AGENT_SAMPLER_H
#define AGENT_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/rate.h"
#include "base/settings.h"
#include "store/layout.h"

/* Functions that the sampler calls on its own thread. */
struct sampler_calls {
    /* Make the journal. HAS_OWN_FILES: see struct settings. Returns 0, or -1.
     */
    int (*open)(bool has_own_files);
    /* Only the sampler is left, and has left its loop; IS_SINGLE_THREAD: there
     * was one thread. */
    void (*on_alone)(bool is_single_thread);
};

struct sampler_result {
    uint64_t taken, lost, threads, asked;
    uint64_t lost_by[LOSS_COUNT];
    struct rate rate;   /* of running threads, and */
    uint64_t ran;       /* their samples; TAKEN has all */
    uint64_t wanted;    /* a CPU second */
    uint64_t elapsed;   /* ns of sampling */
    uint64_t cpu;       /* ns of the sampler thread */
    uint64_t keep;      /* SPROF_KEEP */
    int recorder_error; /* errno why the past could not be put aside */
    uint64_t cut;       /* samples in spools that were shortened */
    int error;          /* errno that ended the spool before its time, or 0 */
    int trigger_error;  /* errno why the trigger does not work, or 0 */
    bool is_short_of_memory; /* no trigger was tried */
    bool is_blind;           /* the kernel does not show where threads wait */
    bool is_displaced;       /* the program replaced our handler */
    bool is_traced;          /* threads were not sampled because of a tracer */
};

/* Reserve memory, and install the handler. Returns 0, or -1 with errno. Called
 * again in the child of a fork. */
int sampler_prepare(const struct settings *settings,
                    const struct sampler_calls *calls);

/* Make the thread, which begins by itself, after sampler_prepare. Returns 0, or
 * -1 with errno. A profile that ends before that is possible has no thread. */
int sampler_launch(void);

/* Keep a sampler that has not begun from beginning: no sample was taken, and
 * nothing is left to stop. With IS_LEFT its thread has left, too. Returns false
 * if it has begun. */
bool sampler_cancel(bool is_left);

/* Stop sampling, answer what is outstanding or count it as lost, and end the
 * journal with REASON. Waits for the thread, NS at most. Returns 0, or -1 if it
 * did not end in time (the spool is then as after a kill). The sampler thread
 * calls it only after it has left its loop. */
int sampler_stop(enum end_reason reason, uint64_t ns,
                 struct sampler_result *result);

/* Pause sampling until sampler_resume: no signal is sent, and every thread that
 * was asked has answered or its time is over. Calls nest. The wait has a
 * deadline. */
void sampler_pause(void);
void sampler_resume(void);

/*
 * Have the sampler call FUNCTION with ARGUMENT after its last sample, and wait
 * for that, but no longer than NS. The profile is written there: the sampler
 * has its own descriptor table, root and directory. A seccomp filter that the
 * program set on its own threads does not apply to it. If the sampler makes no
 * offer, or no longer, the caller calls FUNCTION. Returns whether it was done.
 * One caller at a time. Async-signal-safe if FUNCTION is.
 */
bool sampler_run(void (*function)(void *), void *argument, uint64_t ns);

#endif
