/* SPDX-License-Identifier: MIT */
/*
 * cpu_without_samples.h -- records CPU time of threads that must not be
 * interrupted (TRIGGER_NONE; tracee.h). It is recorded without a stack;
 * otherwise the thread's other samples would be scaled up to cover it.
 * Context: sampler.
 */
#ifndef SAMPLING_CPU_WITHOUT_SAMPLES_H
#define SAMPLING_CPU_WITHOUT_SAMPLES_H

#include <stdint.h>

#include "thread_time.h"

/* Thread INDEX, whose thread time is ACCOUNT, ran for RAN of the BETWEEN ns
 * before NOW. */
void cpu_without_samples_add(struct thread_time *account, uint32_t index,
                             uint64_t ran, uint64_t between, uint64_t now);

/* Thread INDEX used CPU ns from SINCE to UNTIL, before there was a sampler that
 * could sample it (doze.h). That is no sample: a process that has no others
 * writes no profile. */
void cpu_without_samples_early(uint32_t index, uint64_t cpu, uint64_t since,
                               uint64_t until);

/* Write the CPU time that was not written yet. */
void cpu_without_samples_flush(struct thread_time *account, uint32_t index);

#endif
