/* SPDX-License-Identifier: MIT */
/*
 * heap_view.h -- reads the data of an interpreter without a fault. What lies on
 * the thread's own stack is read directly. All else may be freed at any
 * instant, so system calls copy it. Frames lie one behind the other in blocks
 * and are read downwards, so one copy holds many.
 */
#ifndef UNWIND_HEAP_VIEW_H
#define UNWIND_HEAP_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Size of the window, in bytes. */
#define HEAP_VIEW_WINDOW 4096u

struct heap_view {
    uint64_t low, high;  /* stack that may be read directly; equal: none */
    uint64_t block;      /* start of the block that holds the frames, or 0 */
    uint64_t start, end; /* addresses in the window */
    uint8_t *window;     /* HEAP_VIEW_WINDOW bytes */
    uint32_t fills;      /* how many system calls may still be made */
};

/* Begin to read. From LOW to HIGH the calling thread's stack is in use. WINDOW
 * has HEAP_VIEW_WINDOW bytes. No more than FILLS system calls are made.
 * Context: any. */
void heap_view_begin(struct heap_view *view, uint64_t low, uint64_t high,
                     uint8_t *window, uint32_t fills);

/* Copy LENGTH bytes at ADDRESS to TO, a frame's record. Returns false if not
 * all can be read. Context: any. */
bool heap_view_read(struct heap_view *view, uint64_t address, void *to,
                    size_t length);

/* Have LENGTH bytes at ADDRESS in the window. Returns false if not all can be
 * read. Context: any. */
bool heap_view_fetch(struct heap_view *view, uint64_t address, size_t length);

/* As heap_view_read, past the window. Context: any. */
bool heap_view_copy(struct heap_view *view, uint64_t address, void *to,
                    size_t length);

#endif
