/* SPDX-License-Identifier: MIT */
/*
 * python_runtime.h -- the CPython interpreters in this process, by number, and
 * the frames that they have of a thread. The sampler enters an interpreter when
 * its module comes. From then on handlers find it.
 */
#ifndef UNWIND_PYTHON_RUNTIME_H
#define UNWIND_PYTHON_RUNTIME_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "process/modules.h"
#include "heap_view.h"
#include "python.h"
#include "python_find.h"
#include "script.h"

/* Limit of the interpreters that a process has at a time or one after the
 * other. A program that unloads and loads one more often is shown without. */
#define PYTHON_RUNTIMES_MOST 16u

/* Begin without any. SELF is what pthread_self returns in the calling thread.
 * Returns 0, or -1 if memory is short. Context: sampler. */
int python_runtime_begin(uint64_t self);

/* Look for an interpreter in MODULE, and enter it. One that is not relocated
 * yet is looked for again later. *MINOR becomes the 3.MINOR of its version, or
 * 0. Context: sampler. */
enum python_find python_runtime_look(const struct module *module,
                                     unsigned *minor);

/* MODULE is gone. Context: sampler. */
void python_runtime_gone(const struct module *module);

/* Look again at interpreters that were not ready, and for what handlers lacked.
 * Returns the file of one whose frames cannot be read, NULL if there is none;
 * *MINOR is as above. Context: sampler. */
const char *python_runtime_settle(unsigned *minor);

/* Whether there are any. Context: any. */
bool python_runtime_is_there(void);

/* Collect in SCRIPT the frames of the calling thread, as interpreter_collect
 * does. Returns whether it has some. Context: any. */
bool python_runtime_collect(struct script *script, struct heap_view *view,
                            uint64_t pointer, uint64_t pc);

/* The same for thread TID, which waits. Returns false if it is too early to
 * tell whether the thread runs an interpreter. Context: sampler. */
bool python_runtime_collect_from(struct script *script, uint8_t *window,
                                 pid_t tid);

/* Whether ADDRESS is in the lock of an interpreter, which GIL then tells.
 * Context: sampler. */
bool python_runtime_is_lock(uint64_t address, struct script_lock *gil);

/* See interpreter_lock_owner. Context: sampler. */
pid_t python_runtime_lock_owner(uint64_t address, uint64_t sp);

/* Whether PC is in the loop of interpreter NUMBER. Context: any. */
bool python_runtime_is_in_loop(uint32_t number, uint64_t pc);

/* The interpreter NUMBER. Context: any. */
const struct python *python_runtime_at(uint32_t number);

/* See interpreter_name. Context: sampler. */
bool python_runtime_name(uint32_t number, uint64_t code, char *text);

#endif
