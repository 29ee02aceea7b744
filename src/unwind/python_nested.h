/* SPDX-License-Identifier: MIT */
/*
 * python_nested.h -- threads with several states. A thread that runs code in a
 * sub-interpreter has a state there, and the state with which it called it.
 * Frames of both are on its stack. The interpreters' lists have all states.
 * They are read without locks, by system calls, and what was found is kept for
 * the next samples.
 */
#ifndef UNWIND_PYTHON_NESTED_H
#define UNWIND_PYTHON_NESTED_H

#include <stdbool.h>
#include <stdint.h>

#include "python.h"

/* Limit of the other states of one thread that are found. */
#define PYTHON_NESTED_MOST 3u

/* Whether PYTHON has several interpreters. Context: any. */
bool python_nested_is_there(const struct python *python);

/* Whether STATE, which may be read directly, is of another interpreter than the
 * main one. Context: any. */
bool python_nested_is_inner(const struct python *python, uint64_t state);

/* Find the states that the calling thread has beside STATE. POINTER is its
 * thread pointer. Returns their number. Context: handler. */
uint32_t python_nested_find(const struct python *python, uint64_t pointer,
                            uint64_t state,
                            uint64_t others[PYTHON_NESTED_MOST]);

/* Forget what was found. Context: sampler. */
void python_nested_forget(void);

#endif
