/* SPDX-License-Identifier: MIT */
/*
 * window.h -- a stretch of a file (or of memory) at a time, copied, never
 * mapped: what the file does meanwhile changes no byte that was looked at. Each
 * stretch of a file is copied twice, one copy after the other, because a single
 * copy of a file that is written to may hold a later word and lack an earlier
 * one: a word of the first copy vouches for the bytes of the second. Used by
 * reader.c alone. Report side; allocates.
 */
#ifndef STORE_WINDOW_H
#define STORE_WINDOW_H

#include <stddef.h>
#include <stdint.h>

struct window {
    int fd;                     /* the file, or -1; owned */
    const unsigned char *bytes; /* the memory, where there is no file */
    uint64_t size;              /* of the whole, when it was last asked */
    uint64_t start;             /* where in the whole the window begins */
    size_t filled;              /* bytes in it */
    size_t capacity;            /* bytes that each buffer can hold */
    unsigned char *before;      /* the first copy; NULL for memory */
    unsigned char *buffer;      /* the second, which is handed out */
    int failure;                /* errno of the last look that failed, or 0 */
};

/* A window on the regular file FD, which it closes at its end. */
void window_on_file(struct window *window, int fd);

/* A window on LENGTH bytes that stay valid until its end. */
void window_on_memory(struct window *window, const void *bytes, size_t length);

/*
 * LENGTH bytes of the whole from OFFSET, a multiple of 8; aligned to 8 and
 * valid until the next look. Returns NULL with failure set to errno if they
 * cannot be read, or to 0 if the whole has no so many bytes; size is new then.
 */
const void *window_look(struct window *window, uint64_t offset, size_t length);

/* How many bytes the whole has now. */
uint64_t window_size(struct window *window);

/*
 * The word at OFFSET of the whole as the first copy has it. If it is a head,
 * then what the last look handed out is at least as new as what was stored
 * before that head. The 8 bytes must lie in what the last look covered.
 */
uint64_t window_head(const struct window *window, uint64_t offset);

/* Copy LENGTH bytes of the whole from OFFSET, as they are now, and leave the
 * window where it is. Copies are made one after the other: what one holds, a
 * later one does not lack. Returns 0, or -1 if they are not there. */
int window_copy(const struct window *window, uint64_t offset, void *to,
                size_t length);

/* Forget what was read: the next look reads anew. */
void window_drop(struct window *window);

void window_end(struct window *window);

#endif
