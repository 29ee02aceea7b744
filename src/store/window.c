/* SPDX-License-Identifier: MIT */
/*
 * window.c -- reads ahead in large steps. At each step it asks for the size of
 * the file, which may have grown or shrunk. Report side; allocates.
 *
 * Why not mmap(2): an access to a mapping of a file that shrank raises SIGBUS.
 * Why a live file is read twice: the kernel copies many bytes at once, in no
 * promised order. So one copy may hold a record's head and, behind it, bytes
 * from before they were stored. If an earlier copy holds a head, a later copy
 * holds all that was stored before that head. The order within each copy does
 * not matter.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "window.h"

/* The bytes that are read ahead in one step. */
#define WINDOW_SIZE (256u << 10)

void
window_on_file(struct window *window, int fd)
{
    *window = (struct window){.fd = fd};
}

void
window_on_memory(struct window *window, const void *bytes, size_t length)
{
    *window = (struct window){.fd = -1, .bytes = bytes, .size = length};
}

static void
refresh_size(struct window *window)
{
    struct stat now;
    if (window->fd >= 0 && fstat(window->fd, &now) == 0)
        window->size = (uint64_t)now.st_size;
}

uint64_t
window_size(struct window *window)
{
    refresh_size(window);
    return window->size;
}

/* Copy up to LENGTH bytes from OFFSET to TO. Returns how many there were, or -1
 * with errno set. */
static ssize_t
copy_from_file(const struct window *window, unsigned char *to, uint64_t offset,
               size_t length)
{
    size_t got = 0;
    while (got < length) {
        ssize_t part =
            pread(window->fd, to + got, length - got, (off_t)(offset + got));
        if (part < 0 && errno == EINTR)
            continue;
        if (part < 0)
            return -1;
        if (part == 0)
            break;
        got += (size_t)part;
    }
    return (ssize_t)got;
}

/* Fill both buffers. Returns how many bytes are in each, or -1 with errno set.
 * Memory does not change, so one copy of it serves as both. */
static ssize_t
copy_in(struct window *window, uint64_t offset, size_t length)
{
    if (window->fd < 0) {
        memcpy(window->buffer, window->bytes + offset, length);
        return (ssize_t)length;
    }
    ssize_t first = copy_from_file(window, window->before, offset, length);
    if (first < 0)
        return -1;
    /* No byte of the second copy is loaded before the first is complete. */
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    return copy_from_file(window, window->buffer, offset, (size_t)first);
}

static void
release_buffers(struct window *window)
{
    free(window->buffer);
    free(window->before);
    window->buffer = window->before = NULL;
    window->capacity = 0;
}

/* Enlarge the buffers to LENGTH bytes; their contents are lost. Returns 0, or
 * -1 with errno set. */
static int
widen_buffers(struct window *window, size_t length)
{
    if (length <= window->capacity)
        return 0;
    release_buffers(window);
    window->buffer = malloc(length);
    window->before = window->fd < 0 ? NULL : malloc(length);
    if (window->buffer == NULL || (window->fd >= 0 && window->before == NULL))
        return -1;
    window->capacity = length;
    return 0;
}

/* Move the window to OFFSET. Returns -1 if LENGTH bytes are not there; failure
 * is set unless the end of the file is the cause. */
static int
move_window(struct window *window, uint64_t offset, size_t length)
{
    size_t wanted = length > WINDOW_SIZE ? length : WINDOW_SIZE;
    ssize_t got = -1;
    window->filled = 0;
    refresh_size(window);
    uint64_t left = offset < window->size ? window->size - offset : 0;
    if (left < length)
        return -1;
    if (wanted > left)
        wanted = (size_t)left;
    if (widen_buffers(window, wanted) == 0)
        got = copy_in(window, offset, wanted);
    if (got < 0) {
        window->failure = errno;
        return -1;
    }
    window->start = offset;
    window->filled = (size_t)got;
    /* The file has shrunk since it was asked for its size. */
    if ((size_t)got < wanted)
        window->size = offset + (uint64_t)got;
    return (size_t)got < length ? -1 : 0;
}

const void *
window_look(struct window *window, uint64_t offset, size_t length)
{
    uint64_t skip = offset - window->start;
    window->failure = 0;
    if (skip <= window->filled && length <= window->filled - skip)
        return window->buffer + skip;
    return move_window(window, offset, length) == 0 ? window->buffer : NULL;
}

uint64_t
window_head(const struct window *window, uint64_t offset)
{
    const unsigned char *from =
        window->fd < 0 ? window->buffer : window->before;
    uint64_t head;
    memcpy(&head, from + (offset - window->start), sizeof(head));
    return head;
}

int
window_copy(const struct window *window, uint64_t offset, void *to,
            size_t length)
{
    if (window->fd < 0) {
        if (offset > window->size || length > window->size - offset)
            return -1;
        memcpy(to, window->bytes + offset, length);
        return 0;
    }
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    ssize_t got = copy_from_file(window, to, offset, length);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    return got == (ssize_t)length ? 0 : -1;
}

void
window_drop(struct window *window)
{
    window->filled = 0;
}

void
window_end(struct window *window)
{
    if (window->fd >= 0)
        close(window->fd);
    release_buffers(window);
}
