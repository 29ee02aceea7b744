/* SPDX-License-Identifier: MIT */
/*
 * batch.c -- see batch.h. No malloc, no stdio.
 *
 * The hard thing is that the process may die between any two instructions.
 * Readers may look at any time. The file must read well in each case. So the
 * first 8 bytes of a batch are written last. They are the head of its first
 * record, and readers stop where a head is 0. The header of the file counts as
 * a record, and its magic as the head.
 *
 * Another process may shorten the file at any instant. A write at the old place
 * would then leave a hole where records were. So the size is asked before each
 * write, and after it a head of the previous batch is read again.
 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/arch.h"
#include "batch.h"

/* Bytes that stay in the window when it was full. */
#define WINDOW_REST (32u << 10)

/* Longest gap in bytes between two stretches that are written as one. */
#define CHANGES_GAP 512

#define HEAD sizeof(uint64_t)

static unsigned char *
at(struct batch *batch, uint64_t offset)
{
    return batch->window + (offset - batch->base);
}

void
batch_begin(struct batch *batch, const void *header, size_t length)
{
    batch->base = batch->written = batch->last = batch->known = 0;
    batch->end = length;
    batch->changed = 0;
    memcpy(batch->window, header, length);
}

/* Write the changes of bytes that the file has. */
static int
write_changes(struct batch *batch, int fd)
{
    int result = 0;
    for (unsigned i = 0; i < batch->changed && result == 0; i++) {
        const struct batch_stretch *stretch = &batch->changes[i];
        result = spool_file_write(fd, at(batch, stretch->from),
                                  stretch->to - stretch->from, stretch->from);
    }
    return result;
}

/* Whether a head that was written is no longer in the file. */
static bool
is_head_lost(const struct batch *batch, int fd)
{
    uint64_t head = 0;
    return batch->known != 0 &&
           arch_syscall(SYS_pread64, fd, (long)&head, HEAD, (long)batch->known,
                        0, 0) >= 0 &&
           head == 0;
}

/* Write the bytes that the file lacks, their first head last. */
static int
write_batch(struct batch *batch, int fd)
{
    uint64_t from = batch->written, size = batch->end - from;
    const unsigned char *bytes = at(batch, from);
    if (size == 0)
        return 0;
    if (size > HEAD &&
        spool_file_write(fd, bytes + HEAD, size - HEAD, from + HEAD) != 0)
        return -1;
    if (spool_file_write(fd, bytes, HEAD, from) != 0)
        return -1;
    if (!is_head_lost(batch, fd))
        return 0;
    errno = ENODATA;
    return -1;
}

/* Open FILE for writing. Returns -1 with errno if it was shortened, too. */
static int
open_whole(const struct spool_file *file)
{
    int fd = spool_file_open(file);
    if (fd < 0 || !spool_file_is_short(file, fd))
        return fd;
    spool_file_close(file, fd);
    errno = ENODATA;
    return -1;
}

int
batch_flush(struct batch *batch, struct spool_file *file)
{
    if (batch->end == batch->written && batch->changed == 0)
        return 0;
    int fd = open_whole(file);
    if (fd < 0)
        return -1;
    int result = write_changes(batch, fd);
    if (result == 0)
        result = write_batch(batch, fd);
    spool_file_close(file, fd);
    if (result != 0)
        return -1;
    batch->written = batch->end;
    batch->known = batch->last;
    batch->changed = 0;
    return 0;
}

void
batch_drop(struct batch *batch)
{
    batch->end = batch->written;
    batch->changed = 0;
}

/* Returns the first offset at which the window differs from the file. */
static uint64_t
first_waiting(const struct batch *batch)
{
    uint64_t first = batch->written;
    for (unsigned i = 0; i < batch->changed; i++)
        if (batch->changes[i].from < first)
            first = batch->changes[i].from;
    return first;
}

bool
batch_has_room(const struct batch *batch, size_t size)
{
    return size <= BATCH_WINDOW - (batch->end - first_waiting(batch));
}

/* Make room for SIZE bytes in the window. Bytes that the file has may leave the
 * window. */
static int
make_room_in_window(struct batch *batch, struct spool_file *file, size_t size)
{
    uint64_t rest = batch->end - batch->base;
    if (size <= BATCH_WINDOW - rest)
        return 0;
    if (batch_flush(batch, file) == 0)
        rest = rest > WINDOW_REST ? WINDOW_REST : rest;
    else if (errno == EFBIG && batch_has_room(batch, size))
        rest = batch->end - first_waiting(batch);
    else
        return -1;
    if (rest > BATCH_WINDOW - size)
        rest = 0;
    memmove(batch->window, at(batch, batch->end - rest), rest);
    batch->base = batch->end - rest;
    return 0;
}

static void
copy_parts(struct batch *batch, size_t size, const struct batch_part *parts,
           size_t count)
{
    unsigned char *to = at(batch, batch->end);
    memset(to + size - HEAD, 0, HEAD);
    for (size_t i = 0; i < count; i++) {
        if (parts[i].length > 0)
            memcpy(to, parts[i].data, parts[i].length);
        to += parts[i].length;
    }
}

/* Write a record that is larger than the window, its head last. The file is
 * zero behind it. */
static int
write_large(const struct batch *batch, int fd, const struct batch_part *parts,
            size_t count)
{
    const unsigned char *first = parts[0].data;
    uint64_t to = batch->end + parts[0].length;
    int result = spool_file_write(fd, first + HEAD, parts[0].length - HEAD,
                                  batch->end + HEAD);
    for (size_t i = 1; i < count && result == 0; i++) {
        result = spool_file_write(fd, parts[i].data, parts[i].length, to);
        to += parts[i].length;
    }
    return result == 0 ? spool_file_write(fd, first, HEAD, batch->end) : -1;
}

/* The window is empty, and stays so. */
static int
add_large(struct batch *batch, const struct spool_file *file, size_t size,
          const struct batch_part *parts, size_t count)
{
    int fd = open_whole(file);
    if (fd < 0)
        return -1;
    int result = write_large(batch, fd, parts, count);
    spool_file_close(file, fd);
    if (result != 0)
        return -1;
    batch->known = batch->last = batch->end;
    batch->end += size;
    batch->written = batch->base = batch->end;
    return 0;
}

int
batch_add(struct batch *batch, struct spool_file *file, size_t size,
          const struct batch_part *parts, size_t count)
{
    bool fits = size <= BATCH_WINDOW;
    if (make_room_in_window(batch, file, fits ? size : BATCH_WINDOW) != 0)
        return -1;
    if (!fits)
        return add_large(batch, file, size, parts, count);
    copy_parts(batch, size, parts, count);
    batch->last = batch->end;
    batch->end += size;
    return 0;
}

/* Note that the window has changed between the offsets FROM and TO. Returns
 * false if there is no room for the note. */
static bool
note_change(struct batch *batch, uint64_t from, uint64_t to)
{
    for (unsigned i = batch->changed; i-- > 0;) {
        struct batch_stretch *stretch = &batch->changes[i];
        if (from > stretch->to + CHANGES_GAP ||
            to + CHANGES_GAP < stretch->from)
            continue;
        stretch->from = from < stretch->from ? from : stretch->from;
        stretch->to = to > stretch->to ? to : stretch->to;
        return true;
    }
    if (batch->changed == BATCH_CHANGES)
        return false;
    batch->changes[batch->changed++] = (struct batch_stretch){from, to};
    return true;
}

/* Change bytes that have left the window. */
static int
change_file(const struct spool_file *file, uint64_t offset, const void *bytes,
            size_t length)
{
    int fd = open_whole(file);
    if (fd < 0)
        return -1;
    int result = spool_file_write(fd, bytes, length, offset);
    spool_file_close(file, fd);
    return result;
}

int
batch_change(struct batch *batch, struct spool_file *file, uint64_t offset,
             const void *bytes, size_t length)
{
    if (offset < batch->base)
        return change_file(file, offset, bytes, length);
    memcpy(at(batch, offset), bytes, length);
    if (offset >= batch->written || note_change(batch, offset, offset + length))
        return 0;
    return batch_flush(batch, file) == 0
               ? batch_change(batch, file, offset, bytes, length)
               : -1;
}
