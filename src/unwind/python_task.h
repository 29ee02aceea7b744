/* SPDX-License-Identifier: MIT */
/*
 * python_task.h -- which task of asyncio a thread runs. Its event loop enters
 * each task before it runs that task's coroutine. From 3.14 on the thread's
 * state has the task. Up to 3.13 the module _asyncio has a dictionary of the
 * tasks of all loops. A task is a thread's own if the frame of its coroutine is
 * among those of the thread (script_meet).
 */
#ifndef UNWIND_PYTHON_TASK_H
#define UNWIND_PYTHON_TASK_H

#include <stdint.h>

#include "python.h"
#include "script.h"

/* Forget all interpreters. Context: sampler. */
void python_task_begin(void);

/* Look for the dictionaries of the interpreters of PYTHON that have none yet.
 * Context: sampler. */
void python_task_look(const struct python *python);

/* Enter the tasks in SCRIPT of which one may run in the thread with STATE of
 * PYTHON. IS_HELD: the calling thread runs with that state, so that it may be
 * read directly. Up to 3.13 this makes no system call before _asyncio is
 * imported, one for each interpreter if no task runs, and some 4 if one does.
 * From 3.14 on it makes one if a task runs, and one more if not IS_HELD.
 * Context: any. */
void python_task_list(const struct python *python, uint64_t state, bool is_held,
                      struct script *script);

/* Read what the task is called that the walk has met. Context: any. */
void python_task_name(const struct python *python, struct script *script);

#endif
