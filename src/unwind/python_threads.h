/* SPDX-License-Identifier: MIT */
/*
 * python_threads.h -- which thread has which state in an interpreter, by the
 * interpreter's lists. They are read without its locks, while they change. So
 * each state is looked at again before it is used.
 * Context: sampler.
 */
#ifndef UNWIND_PYTHON_THREADS_H
#define UNWIND_PYTHON_THREADS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "python.h"

/* Forget what is known. Returns 0, or -1 if memory is short. */
int python_threads_begin(void);

/* Limit of the states that a thread has, one for each interpreter that it is
 * in. */
#define PYTHON_STATES_MOST 8u

/* Find the states of thread TID in PYTHON. Returns their number. *IS_EARLY: the
 * lists were not read since the thread came, and may not be read yet. */
uint32_t python_threads_find(const struct python *python, pid_t tid,
                             uint64_t states[PYTHON_STATES_MOST],
                             bool *is_early);

/* The thread in which pthread_self returns POINTER, or 0. */
pid_t python_threads_tid(uint64_t pointer);

/* Whether ADDRESS is in the lock of an interpreter of PYTHON. */
bool python_threads_is_gil(const struct python *python, uint64_t address,
                           struct script_lock *gil);

#endif
