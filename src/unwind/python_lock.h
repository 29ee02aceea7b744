/* SPDX-License-Identifier: MIT */
/*
 * python_lock.h -- which thread has a lock of Python that another one waits
 * for. A threading.RLock has its owner; a threading.Lock has none. A thread
 * that waits for one has the lock's object on its native stack, in the function
 * of the interpreter that takes the lock.
 */
#ifndef UNWIND_PYTHON_LOCK_H
#define UNWIND_PYTHON_LOCK_H

#include <stdint.h>

#include "python.h"

/* Forget what is known. Context: sampler. */
void python_lock_begin(void);

/* The thread of PYTHON (what pthread_self returns in it) that has the lock for
 * which another one waits: with the stack pointer SP, for the futex at ADDRESS.
 * 0: no lock with an owner. Context: sampler. */
uint64_t python_lock_owner(const struct python *python, uint64_t address,
                           uint64_t sp);

#endif
