/* SPDX-License-Identifier: MIT */
/*
 * scheduling.h -- how the kernel schedules the sampler's thread: it hurries, or
 * it is patient. A sampler that hurries runs as early as it may. A patient one
 * takes a CPU from no thread that runs, and gives its own to each thread that
 * wakes. So it may run late. A thread that needs it soon lets it hurry.
 */
#ifndef BASE_SCHEDULING_H
#define BASE_SCHEDULING_H

#include <stdbool.h>

/* The sampler hurries from now on. It calls this before the others. What is set
 * here holds for its thread alone. Context: sampler. */
void scheduling_begin(void);

/* From now on the sampler is patient, or it hurries.
 * Context: sampler. */
void scheduling_be_patient(bool patient);

/* Let a patient sampler hurry until scheduling_be_patient(true) is called
 * again. Makes a system call only if the sampler is patient. Context: any. */
void scheduling_hurry(void);

/* Whether a thread has called scheduling_hurry, and the sampler was patient,
 * since the last call.
 * Context: sampler. */
bool scheduling_was_hurried(void);

/* Give the caller the scheduling that the sampler had before scheduling_begin.
 * The caller is a child of the sampler's thread that shares our memory. Makes
 * system calls only. */
void scheduling_give_way(void);

#endif
