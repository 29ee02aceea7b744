/* SPDX-License-Identifier: MIT */
/*
 * python_layout.h -- where CPython has what a walk needs, by its version. These
 * structures are no public interface, and each minor version has its own. Up to
 * 3.12 a table has them; from 3.13 on the interpreter itself has one.
 */
#ifndef UNWIND_PYTHON_LAYOUT_H
#define UNWIND_PYTHON_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

/* How the frames of a thread hang together. */
enum python_chain {
    /* 3.9: one PyFrameObject for each native frame of the loop. */
    PYTHON_COUNTED,
    /* 3.10: the same. Each native frame has a CFrame on the stack. */
    PYTHON_OBJECTS,
    /* 3.11: each native frame has a _PyCFrame, which names its innermost frame.
     * The outermost one is marked. */
    PYTHON_ENTRIES,
    /* 3.12: the same. A frame on the native stack follows the outermost one. */
    PYTHON_SHIMS,
    /* 3.13 and later: there is that frame alone. */
    PYTHON_SHIMS_ALONE,
};

/* Forms of the table of lines (python_lines.h of the report side). */
enum python_lines_form { PYTHON_LNOTAB, PYTHON_LINES_310, PYTHON_LOCATIONS };

/* All are offsets in bytes, unless the comment says otherwise. 0xffff: the
 * version has no such field. */
#define PYTHON_NO_FIELD 0xffffu
struct python_layout {
    uint16_t minor; /* of the version: 3.MINOR */
    uint8_t chain;  /* enum python_chain */
    uint8_t lines;  /* enum python_lines_form */
    struct {
        uint16_t interpreters;
        uint16_t gil_locked, gil_holder; /* up to 3.11 */
    } runtime;
    struct {
        uint32_t next, threads, collecting;
        uint32_t gil;     /* pointer to the lock; 0: the runtime has it */
        uint32_t modules; /* pointer to the dictionary of modules */
    } interpreter;
    struct {
        uint16_t next, interpreter;
        uint16_t top;   /* of its innermost CFrame or frame */
        uint16_t frame; /* of its innermost frame, with PYTHON_OBJECTS */
        uint16_t thread_id, native_id, block;
        uint16_t size; /* bytes that hold all of these */
    } thread;
    struct {
        uint16_t current, previous;
        uint16_t root; /* of the outermost one, in the thread's state */
    } cframe;
    struct {
        uint16_t code, previous, instruction;
        uint16_t mark; /* is_entry, or owner */
        uint16_t size; /* bytes that hold all of these */
    } frame;
    uint8_t shim; /* least value of owner that marks a frame as no function's */
    struct {
        uint16_t first_line, file, name, table, start;
    } code;
    struct {
        uint16_t length, state, ascii, compact;
    } text;
    struct {
        uint16_t length, data;
    } bytes;
    struct python_task_layout {
        uint16_t coroutine; /* of a task; after it is the task's name */
        uint16_t frame;     /* of a coroutine; up to 3.10 a pointer is there */
        uint16_t running;   /* of a thread, from 3.14 on: its task */
    } task;
    struct {
        uint16_t holder, locked; /* of the lock */
    } gil;
};

/* The word at OFFSET of BYTES, which need not be aligned. */
static inline uint64_t
python_word(const uint8_t *bytes, unsigned offset)
{
    uint64_t word;
    __builtin_memcpy(&word, bytes + offset, sizeof(word));
    return word;
}

/* The layout of version 3.MINOR. NULL if it is not in the table. */
const struct python_layout *python_layout_of(unsigned minor);

/* Fill LAYOUT from the table of offsets with which _PyRuntime begins at
 * ADDRESS, from 3.13 on. Returns false if it is of another version
 * than 3.MINOR, or of a build that is not supported. Context: sampler. */
bool python_layout_read(struct python_layout *layout, uint64_t address,
                        unsigned minor);

#endif
