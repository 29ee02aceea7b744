/* SPDX-License-Identifier: MIT */
/*
 * heap_view.h -- reads the data of an interpreter without a fault. Data on the
 * thread's own stack is read directly. So is data that the thread surely keeps:
 * while it holds the interpreter's lock, no other thread frees its frames. All
 * else may be freed at any instant, so system calls copy it. Frames lie one
 * after the other in blocks and are read downwards, so one copy holds many.
 */
#ifndef UNWIND_HEAP_VIEW_H
#define UNWIND_HEAP_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Size of the window, in bytes. */
#define HEAP_VIEW_WINDOW 4096u

/* System calls that the sampler may make to read the data of one thread. */
#define HEAP_VIEW_FILLS_FROM_OUTSIDE 4096u

/* Whether a block may have SIZE bytes. (Python/pystate.c,
 * DATA_STACK_CHUNK_SIZE: 16 KiB, doubled as needed.) */
static inline bool
heap_view_is_block(uint64_t size)
{
    return size >= 1u << 12 && size <= 1ull << 32 && (size & (size - 1)) == 0;
}

/* The data that may be read directly, apart from the stack. */
enum heap_view_kept {
    HEAP_VIEW_NOTHING,
    /* The blocks. Each begins with the address of the next one and its own
     * size. Only the thread itself frees them, and it drops them from the list
     * first. Frames outside of them are objects, which no other thread frees.
     * Those are read once the kernel has read a word of their page. */
    HEAP_VIEW_BLOCKS,
    /* All to which a record refers that was read. */
    HEAP_VIEW_ALL,
};

/* Whole pages one after the other; equal: none. */
struct heap_view_pages {
    uint64_t start, end;
};

struct heap_view {
    uint64_t low, high;  /* stack that may be read directly; equal: none */
    uint64_t block;      /* the newest block that holds frames, or 0 */
    uint64_t start, end; /* addresses in the window */
    /* The block that was read last; equal: none. */
    uint64_t block_start, block_end;
    /* Pages of the stack, and of objects, in which the kernel has just read a
     * word. */
    struct heap_view_pages stack, objects;
    uint8_t *window; /* HEAP_VIEW_WINDOW bytes */
    uint32_t fills;  /* system calls that may still be made */
    enum heap_view_kept kept;
    /* An address may be anything. Pages of the stack that are not in use may
     * not be accessible, so the kernel reads a word of each page first. */
    bool is_careful;
    /* The addresses of a careful view are those of frames that the thread has
     * or had. Objects are then read as in a view that is not careful. */
    bool has_objects;
};

/* Begin to read. From LOW to HIGH the calling thread's stack is in use. WINDOW
 * has HEAP_VIEW_WINDOW bytes. No more than FILLS system calls are made.
 * Context: any. */
void heap_view_begin(struct heap_view *view, uint64_t low, uint64_t high,
                     uint8_t *window, uint32_t fills);

/* The LENGTH bytes at ADDRESS, until the next call. NULL: not all of them can
 * be read. Context: any. */
const uint8_t *heap_view_at(struct heap_view *view, uint64_t address,
                            size_t length);

/* Copy LENGTH bytes at ADDRESS to TO, past the window. Returns false if not all
 * can be read. Context: any. */
bool heap_view_copy(struct heap_view *view, uint64_t address, void *to,
                    size_t length);

/* The LENGTH bytes of the stack at ADDRESS, or NULL: they cannot be read
 * directly. Context: any. */
const uint8_t *heap_view_stack(struct heap_view *view, uint64_t address,
                               size_t length);

#endif
