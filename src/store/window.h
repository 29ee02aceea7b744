/* SPDX-License-Identifier: MIT */
/*
 * window.h -- gives access to a part of a file (or of memory) at a time. The
 * part is copied, never mapped, so later changes of the file do not change the
 * bytes that were returned. Each part of a file is copied twice, one copy after
 * the other. A single copy of a file that is being written may hold a later
 * word and lack an earlier one. Therefore a word of the first copy vouches for
 * the bytes of the second. Used by reader.c alone. Report side; allocates.
 */
#ifndef STORE_WINDOW_H
#define STORE_WINDOW_H

#include <stddef.h>
#include <stdint.h>

struct window {
    int fd;                     /* the file, or -1; owned */
    const unsigned char *bytes; /* the memory, if there is no file */
    uint64_t size;         /* of the whole file or memory, when last asked */
    uint64_t start;        /* offset of the window in the whole */
    size_t filled;         /* bytes in the window */
    size_t capacity;       /* capacity of each buffer in bytes */
    unsigned char *before; /* the first copy; NULL for memory */
    unsigned char *buffer; /* the second copy, which is returned */
    int failure;           /* errno of the last look if it failed, or 0 */
};

/* Begin a window on the regular file FD, which window_end closes. */
void window_on_file(struct window *window, int fd);

/* Begin a window on LENGTH bytes, which stay valid until window_end. */
void window_on_memory(struct window *window, const void *bytes, size_t length);

/*
 * Return LENGTH bytes of the whole from OFFSET, which is a multiple of 8. They
 * are aligned to 8 and valid until the next look. Returns NULL with failure set
 * to errno if they cannot be read. If the whole is too short, failure is 0 and
 * size is renewed.
 */
const void *window_look(struct window *window, uint64_t offset, size_t length);

/* The present size of the whole in bytes. */
uint64_t window_size(struct window *window);

/*
 * The word at OFFSET of the whole in the first copy. If it is a head, the bytes
 * of the last look have all that was stored before that head. The 8 bytes must
 * lie within the last look.
 */
uint64_t window_head(const struct window *window, uint64_t offset);

/* Copy LENGTH bytes of the whole from OFFSET, as they are now, and leave the
 * window where it is. Copies are made one after the other: a later copy has all
 * that an earlier one has. Returns 0, or -1 if the bytes are not there. */
int window_copy(const struct window *window, uint64_t offset, void *to,
                size_t length);

/* Forget what was read, so that the next look reads the file again. */
void window_drop(struct window *window);

void window_end(struct window *window);

#endif
