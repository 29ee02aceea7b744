/* SPDX-License-Identifier: MIT */
/*
 * interpreter.h -- the interpreters in this process whose frames are known. The
 * sampler recognizes them when the module map changes. From then on each walk
 * also collects the frames that an interpreter keeps of the thread (script.h).
 * The sampler then reads the name of each function once.
 */
#ifndef UNWIND_INTERPRETER_H
#define UNWIND_INTERPRETER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <ucontext.h>

#include "process/modules.h"
#include "frame.h"
#include "heap_view.h"
#include "script.h"
#include "script_code.h"

/* Begin without any. IS_ON: look for interpreters at all. SELF is what
 * pthread_self returns in the calling thread. Context: sampler. */
void interpreter_begin(bool is_on, uint64_t self);

/* MODULE has come, or is gone. Context: sampler. */
void interpreter_module(const struct module *module, bool gone);

/* Look again at interpreters that were not ready when their module came.
 * Context: sampler. */
void interpreter_settle(void);

/* An interpreter that was found, and whose frames cannot be read: its file, its
 * language, and the 3.MINOR of its version; 0: not known. */
struct interpreter_refused {
    const char *path, *language;
    unsigned minor;
};

/* Whether one was found since the last call that returned true. Context:
 * sampler. */
bool interpreter_was_refused(struct interpreter_refused *told);

/* Whether any exist. Context: any. */
bool interpreter_is_there(void);

/* Collect in SCRIPT the frames of the calling thread, whose thread pointer is
 * POINTER, and which was interrupted at CONTEXT. VIEW reads its stack. A thread
 * that runs no interpreter has no such frames. The module map is current.
 * Context: any. */
void interpreter_collect(struct script *script, struct heap_view *view,
                         uint64_t pointer, const ucontext_t *context);

/* The walk of the calling thread has met NATIVE. If that is a frame of the loop
 * whose function is not in SCRIPT, find it, and give it its place. Context:
 * any. */
void interpreter_meet(struct script *script,
                      const struct script_native *native);

/* The walk of the calling thread stops, and the sampler goes on without the
 * thread. Context: handler. */
void interpreter_leave(struct script *script);

/* The same for thread TID, which waits. SCRIPT is empty, and WINDOW has
 * HEAP_VIEW_WINDOW bytes. Returns false if it is too early to know whether the
 * thread runs an interpreter: the caller tries again later. Context: sampler.
 */
bool interpreter_collect_from(struct script *script, uint8_t *window,
                              pid_t tid);

/* Whether a thread that waits for the futex at ADDRESS waits for an
 * interpreter's lock, which lets one thread at a time run. GIL then describes
 * it. Context: sampler. */
bool interpreter_is_lock(uint64_t address, struct script_lock *gil);

/* The thread that holds a lock of a program in an interpreter. A thread with
 * the stack pointer SP waits for it at the futex at ADDRESS. 0: not known.
 * Context: sampler. */
pid_t interpreter_lock_owner(uint64_t address, uint64_t sp);

/* Finish the search for the places of the frames in SCRIPT, for interpreters
 * that keep no record on the native stack. FRAMES are COUNT native frames from
 * the leaf on; ELIDED more were left out in front of number GAP. IS_ROOTED: no
 * outer one is missing. Context: sampler. */
void interpreter_place(struct script *script, const struct frame *frames,
                       uint32_t count, uint32_t gap, uint32_t elided,
                       bool is_rooted);

/* A sum of what the function at CODE of interpreter RUNTIME consists of, the
 * sums of MOST CODES, a copy of a function, and its name, as script_code.h has
 * them. Context: sampler. */
uint32_t interpreter_sum(uint32_t runtime, uint64_t code);
unsigned interpreter_sums(uint32_t runtime, const uint64_t *codes,
                          unsigned most, uint32_t *sums);
size_t interpreter_copy(uint32_t runtime, uint64_t code, uint32_t sum, void *to,
                        size_t room);
bool interpreter_name(uint32_t runtime, uint64_t code, char *text);

/* Note for handlers that the sampler has read the function at CODE, which had
 * SUM. They copy all others, which may be freed before the sampler comes. SUM
 * 0: it has not. IS_TRUSTED: the function has long been there, so handlers do
 * not read its sum, either. Context: sampler. */
void interpreter_know(uint64_t code, uint32_t sum, bool is_trusted);

/* Whether interpreter RUNTIME is PHP's, and not CPython's. */
bool interpreter_is_of_php(uint32_t runtime);

/* The form of the tables of lines of an interpreter of CPython (enum
 * python_lines_form). */
uint32_t interpreter_lines_form(uint32_t runtime);

#endif
