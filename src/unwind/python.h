/* SPDX-License-Identifier: MIT */
/*
 * python.h -- the frames of Python functions. CPython keeps a record for each
 * native frame of its loop on the native stack, and a chain of frames elsewhere
 * (python_layout.h). The chain is read here, by the thread itself in our
 * handler, or from outside while the thread waits. A pointer of it may be wrong
 * at any time, because the interpreter was interrupted between two stores, or
 * the memory was freed. So all is read without a fault, and bounded.
 */
#ifndef UNWIND_PYTHON_H
#define UNWIND_PYTHON_H

#include <stdbool.h>
#include <stdint.h>

#include "heap_view.h"
#include "python_layout.h"
#include "script.h"

/* An interpreter in this process. */
struct python {
    struct python_layout layout;
    uint64_t runtime;   /* address of _PyRuntime */
    uint64_t code_type; /* address of PyCode_Type */
    /* PyGILState_GetThisThreadState: it returns the thread's state, or NULL. It
     * reads a variable of the thread, and takes no lock. */
    void *(*own_thread)(void);
    uint64_t loop_start, loop_end; /* the function of the loop */
    uint64_t cold_start, cold_end; /* its other part; equal: none */
};

/* Collect the frames of the thread with the STATE of PYTHON in SCRIPT. POINTER
 * is the thread pointer of that thread; 0: any. Returns false if STATE is not
 * that thread's. Context: any. */
bool python_collect(const struct python *python, uint64_t state,
                    uint64_t pointer, struct heap_view *view,
                    struct script *script);

#endif
