/* SPDX-License-Identifier: MIT */
/*
 * python.h -- the frames of Python functions. CPython keeps a record for each
 * native frame of its loop on the native stack, and a chain of frames elsewhere
 * (python_layout.h). The chain is read here, by the thread itself in our
 * handler, or from outside while the thread waits. A pointer of it may be wrong
 * at any time, because the interpreter was interrupted between two stores, or
 * the memory was freed. So all is read without a fault, and within bounds.
 */
#ifndef UNWIND_PYTHON_H
#define UNWIND_PYTHON_H

#include <stdbool.h>
#include <stdint.h>

#include "heap_view.h"
#include "python_layout.h"
#include "script.h"
#include "thread_word.h"

/* Kinds of objects that have a function's frame: generators, coroutines and
 * asynchronous generators. */
#define PYTHON_GENERATORS 3u

/* An interpreter in this process. */
struct python {
    struct python_layout layout;
    uint64_t runtime;      /* address of _PyRuntime */
    uint64_t runtime_size; /* of _PyRuntime, in bytes */
    uint64_t code_type;    /* address of PyCode_Type */
    /* Of the types of dictionaries, texts and numbers; 0: not known. */
    uint64_t dict_type, text_type, number_type;
    /* Of the types of frames (up to 3.10), and of generators of each kind. */
    uint64_t frame_type, generator_types[PYTHON_GENERATORS];
    /* PyGILState_GetThisThreadState: it returns the thread's state, or NULL. It
     * reads a variable of the thread, and takes no lock. */
    void *(*own_thread)(void);
    /* _PyThreadState_UncheckedGet up to 3.11: it returns the state of the
     * thread that has the interpreter's lock, and reads one word for that. NULL
     * from 3.12 on. */
    void *(*holder)(void);
    /* From 3.12 on each thread has a word of its own for that. */
    bool has_word;
    struct thread_word word;
    uint64_t loop_start, loop_end; /* the function of the loop */
    /* _Py_CheckFunctionResult, which the loop calls last up to 3.10. */
    uint64_t check_start, check_size;
};

/* The content of a record of a frame. */
struct python_record {
    uint64_t code, previous;
    int32_t instruction; /* its offset */
    uint8_t mark;        /* is_entry, or owner */
    bool is_generator;
};

/* Set RECORD from BYTES, layout.frame.size of them. Context: any. */
void python_record_take(const struct python_layout *layout,
                        const uint8_t *bytes, struct python_record *record);

/* Collect the frames of the thread with the STATE of PYTHON in SCRIPT. POINTER
 * is what pthread_self returns in that thread; 0: any. IS_HELD: the calling
 * thread runs with that state (python_running), so that no other thread frees
 * its frames. Returns false if STATE is not that thread's. Context: any. */
bool python_collect(const struct python *python, uint64_t state,
                    uint64_t pointer, bool is_held, struct heap_view *view,
                    struct script *script);

/* The state with which the calling thread runs now: it has the interpreter's
 * lock. POINTER is its thread pointer. DISTANCE is where the word of PYTHON is
 * (thread_word_place), and STATE is what own_thread returned. 0: there is none,
 * or it is not known. Context: handler. */
uint64_t python_running(const struct python *python, uint64_t pointer,
                        int64_t distance, uint64_t state);

#endif
