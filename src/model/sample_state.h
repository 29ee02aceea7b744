/* SPDX-License-Identifier: MIT */
/*
 * sample_state.h -- the words for what a thread did, for all outputs. The
 * functions look up the names of a sample's stack, which show a wait for a GPU
 * (gpu_wait.h).
 */
#ifndef MODEL_SAMPLE_STATE_H
#define MODEL_SAMPLE_STATE_H

#include "profile.h"

/* The states of threads that wait for a GPU: asleep, and with CPU time. */
#define SAMPLE_STATE_GPU "gpu"
#define SAMPLE_STATE_SPINS "gpu, spinning"

/* The name of SAMPLE's state: "running", "runnable", one of the above, the name
 * of the system call in which the thread waited ("system call 511" if it has
 * none), or "waiting". The string lives as long as PROFILE. */
const char *sample_state_name(struct profile *profile,
                              const struct profile_sample *sample);

/* One of the above if SAMPLE waits for a GPU, else NULL. A thread that could
 * run waits for a CPU, wherever it is. */
const char *sample_state_gpu(struct profile *profile,
                             const struct profile_sample *sample);

/* An additional innermost frame that separates SAMPLE from samples that worked:
 * "[waiting]", "[runnable]", or its state at a GPU in brackets. NULL if it
 * worked. */
const char *sample_state_frame(struct profile *profile,
                               const struct profile_sample *sample);

#endif
