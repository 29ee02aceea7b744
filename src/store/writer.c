/* SPDX-License-Identifier: MIT */
/*
 * writer.c -- see writer.h. Records are gathered in memory, and the file is
 * reserved before they are written (spool_file.h). No malloc, no stdio.
 *
 * The hard thing is that every failure must leave a file that reads well. The
 * first failure drops what was not written. After it only a summary is written.
 *
 * The process may die between any two instructions, and readers may look at any
 * time. So the first 8 bytes of a batch are written last. They are the head of
 * its first record, and readers stop where a head is 0. The header of the file
 * counts as a record, and its magic as the head.
 *
 * Another process may shorten the file at any instant. A write at the old place
 * would then leave a hole where records were. So the size is checked before
 * each write, and after it a head of the previous batch is read again.
 */
#include <errno.h>
#include <limits.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/arch.h"
#include "base/sys.h"
#include "writer.h"

/* Bytes that are reserved at first, and least size of each later chunk. */
#define CHUNK_FIRST (256u << 10)
#define CHUNK_NEXT (1u << 20)

/* From 256 MiB on, a chunk is this fraction of the file. So reservations are
 * few however long the file is. */
#define CHUNK_SHARE 256

/* Bytes at the end of the reserved room for the summary. So it is written even
 * if the disk is full or the cap is reached. */
#define SUMMARY_ROOM sizeof(struct record_summary)

/* Limit of a record's fixed part in bytes, head included. */
#define FIXED_MAX 512

/* Bytes of the file that are held in memory. Changes of records among them are
 * written together. */
#define BATCH_WINDOW (256u << 10)

/* Limit of stretches that may have changed before they are written. */
#define BATCH_CHANGES 64

/* Bytes that stay in a window that was full. */
#define WINDOW_REST (32u << 10)

/* Longest gap in bytes between two stretches that are written as one. */
#define CHANGES_GAP 512

#define HEAD sizeof(uint64_t)

/* The last bytes of the file in memory, some of which it does not have yet.
 *
 *   file     | written: readers see it         | reserved: zeros        |
 *            0                        written  end                   size
 *   window                  |##########|-------|
 *                         base  changes   batch
 */
struct batch {
    uint64_t end;     /* offset in the file after the last record */
    uint64_t written; /* the file has all bytes before this offset */
    uint64_t base;    /* offset of the window's first byte */
    uint64_t last;    /* offset of the last record */
    uint64_t known;   /* offset of a head that the file has; 0: none */
    unsigned changed; /* stretches in use */
    struct batch_stretch {
        uint64_t from, to; /* offsets in the file */
    } changes[BATCH_CHANGES];
    unsigned char window[BATCH_WINDOW];
};

struct writer {
    struct spool_file file; /* its path is PATH below */
    uint64_t cap;           /* bytes, a multiple of the page size */
    size_t page;            /* size of a page */
    bool gathers;           /* writes wait for a flush */
    int failure;            /* errno of the first append that failed, or 0 */
    char path[PATH_MAX];
    struct batch batch;
};

static unsigned char *
at(struct batch *batch, uint64_t offset)
{
    return batch->window + (offset - batch->base);
}

/* Begin with an empty file, whose first bytes are LENGTH bytes of HEADER. */
static void
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
           sys_call(SYS_pread64, fd, &head, HEAD, batch->known) >= 0 &&
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

/* Write to FILE what it lacks. Returns 0, or -1 with errno: ENODATA if FILE was
 * shortened, else as spool_file.h says. */
static int
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

/* Forget what the file lacks. */
static void
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

/* Whether a record of SIZE bytes can be added without any write. */
static bool
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
copy_parts(struct batch *batch, size_t size, const struct writer_tail *parts,
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
 * zero after it. */
static int
write_large(const struct batch *batch, int fd, const struct writer_tail *parts,
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
          const struct writer_tail *parts, size_t count)
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

/* Add a record of SIZE bytes: these PARTS, of which the first begins with its
 * head, and zeros after them. Returns 0, or -1 with errno as batch_flush. In
 * both cases readers of FILE see whole records only. */
static int
batch_add(struct batch *batch, struct spool_file *file, size_t size,
          const struct writer_tail *parts, size_t count)
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
 * false if the note has no room. */
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

/* Replace LENGTH bytes at OFFSET, which lie before the end, by BYTES. Returns
 * 0, or -1 with errno as batch_flush. */
static int
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

/* Begin the empty file with HEADER. */
static void
put_header(struct writer *writer, const struct spool_header *header)
{
    struct spool_header filled = *header;
    memcpy(filled.magic, SPOOL_MAGIC, sizeof(filled.magic));
    filled.version = SPOOL_VERSION;
    filled.header_size = sizeof(filled);
    filled.machine = ARCH_MACHINE;
    batch_begin(&writer->batch, &filled, sizeof(filled));
    writer->failure = 0;
}

static int
check_arguments(const char *path, uint64_t max_size, size_t page)
{
    if (path[0] != '/')
        errno = EINVAL;
    else if (strlen(path) >= PATH_MAX)
        errno = ENAMETOOLONG;
    else if (max_size < page)
        errno = EFBIG;
    else
        return 0;
    return -1;
}

static uint64_t
first_size(const struct writer *writer)
{
    return CHUNK_FIRST < writer->cap ? CHUNK_FIRST : writer->cap;
}

struct writer *
writer_create(const char *path, const struct spool_header *header,
              uint64_t max_size, bool keeps_open)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (check_arguments(path, max_size, page) != 0)
        return NULL;
    struct writer *writer = sys_reserve_for_one(sizeof(*writer));
    if (writer == NULL) {
        errno = ENOMEM;
        return NULL;
    }
    strcpy(writer->path, path);
    writer->file.path = writer->path;
    writer->page = page;
    writer->cap = max_size / page * page;
    put_header(writer, header);
    if (spool_file_create(&writer->file, first_size(writer), keeps_open) != 0) {
        writer_forget(writer);
        return NULL;
    }
    if (writer_flush(writer) == 0)
        return writer;
    writer_discard(writer);
    return NULL;
}

struct spool_file *
writer_file(struct writer *writer)
{
    return &writer->file;
}

void
writer_gather(struct writer *writer)
{
    writer->gathers = true;
}

int
writer_error(const struct writer *writer)
{
    return writer->failure;
}

/* Write no more records, because of ERROR. A part of the batch may be in the
 * file, and no record may be seen there. Returns -1 with errno. */
static int
give_up(struct writer *writer, int error)
{
    uint64_t end = writer->batch.written;
    batch_drop(&writer->batch);
    if (error != ENODATA && error != ESTALE &&
        spool_file_cut(&writer->file, end) == 0)
        (void)spool_file_reserve(&writer->file, end + SUMMARY_ROOM);
    if (writer->failure == 0)
        writer->failure = error;
    errno = error;
    return -1;
}

/* Whether ERROR may have passed by the next flush. A program may lower
 * RLIMIT_FSIZE for a while. Gathered records wait that long. */
static bool
may_pass(const struct writer *writer, int error)
{
    return error == EFBIG && writer->gathers;
}

/* Returns the size of the file with the next chunk, which has room for NEEDS
 * more bytes; 0 if the cap does not allow that. */
static uint64_t
next_size(const struct writer *writer, size_t needs)
{
    uint64_t more = writer->file.size / CHUNK_SHARE;
    uint64_t least = writer->batch.end + needs;
    if (more < CHUNK_NEXT)
        more = CHUNK_NEXT;
    uint64_t size = writer->file.size + more;
    if (size < least)
        size = least;
    size = (size + writer->page - 1) / writer->page * writer->page;
    if (size > writer->cap)
        size = writer->cap;
    return size < least ? 0 : size;
}

/* Reserve room for all that is gathered and SIZE more bytes. Returns 0, or -1
 * with errno. */
static int
grow(struct writer *writer, size_t size)
{
    if (writer->batch.end + size <= writer->file.size)
        return 0;
    uint64_t next = next_size(writer, size);
    errno = EOVERFLOW;
    return next != 0 ? spool_file_reserve(&writer->file, next) : -1;
}

int
writer_flush(struct writer *writer)
{
    if ((writer->failure != 0 || grow(writer, 0) == 0) &&
        batch_flush(&writer->batch, &writer->file) == 0)
        return 0;
    return may_pass(writer, errno) ? 0 : give_up(writer, errno);
}

/* Make room for a record of KIND and SIZE, in the file or, for a while, in
 * memory. Returns 0, or -1 with errno. */
static int
make_room_for_record(struct writer *writer, enum record_kind kind, size_t size)
{
    size_t keep = kind == RECORD_SUMMARY ? 0 : SUMMARY_ROOM;
    if (writer->failure != 0 &&
        (keep > 0 || writer->batch.end + size > writer->file.size)) {
        errno = writer->failure;
        return -1;
    }
    if (grow(writer, size + keep) == 0 ||
        (may_pass(writer, errno) && batch_has_room(&writer->batch, size)))
        return 0;
    writer->failure = errno;
    return -1;
}

/* Returns the size of a record of these parts; 0 if they make no record. */
static size_t
record_size(size_t fixed, const struct writer_tail *tail, size_t parts)
{
    size_t size = fixed;
    if (fixed < sizeof(uint64_t) || fixed > RECORD_SIZE_MAX)
        return 0;
    for (size_t i = 0; i < parts; i++) {
        if (tail[i].length > RECORD_SIZE_MAX - size)
            return 0;
        size += tail[i].length;
    }
    return (size + 7) & ~(size_t)7;
}

uint64_t
writer_append(struct writer *writer, enum record_kind kind, const void *record,
              size_t fixed, const struct writer_tail *tail, size_t parts)
{
    size_t size = record_size(fixed, tail, parts);
    struct writer_tail all[WRITER_PARTS + 1];
    unsigned char with_head[FIXED_MAX];
    if (size == 0 || fixed > FIXED_MAX || parts > WRITER_PARTS) {
        errno = EINVAL;
        return 0;
    }
    if (make_room_for_record(writer, kind, size) != 0)
        return 0;
    uint64_t head =
        record_head(writer->batch.end, (uint8_t)kind, 0, (uint32_t)size);
    memcpy(with_head, record, fixed);
    memcpy(with_head, &head, sizeof(head));
    all[0] = (struct writer_tail){with_head, fixed};
    if (parts > 0)
        memcpy(all + 1, tail, parts * sizeof(*tail));
    if (batch_add(&writer->batch, &writer->file, size, all, parts + 1) != 0) {
        (void)give_up(writer, errno);
        return 0;
    }
    if (!writer->gathers && writer_flush(writer) != 0)
        return 0;
    return writer->batch.last;
}

void
writer_change(struct writer *writer, uint64_t place, size_t skip,
              const void *bytes, size_t length)
{
    if (writer->failure == ENODATA)
        return;
    if (batch_change(&writer->batch, &writer->file, place + skip, bytes,
                     length) != 0)
        (void)(may_pass(writer, errno) ? 0 : give_up(writer, errno));
    else if (!writer->gathers)
        (void)writer_flush(writer);
}

int
writer_restart(struct writer *writer, const struct spool_header *header)
{
    if (spool_file_cut(&writer->file, 0) != 0 ||
        spool_file_reserve(&writer->file, first_size(writer)) != 0)
        return -1;
    put_header(writer, header);
    return writer_flush(writer);
}

bool
writer_is_followed(const struct writer *writer)
{
    return spool_file_is_followed(&writer->file);
}

void
writer_heed_removal(struct writer *writer)
{
    char directory[PATH_MAX];
    if (!spool_file_is_removed(&writer->file))
        return;
    strcpy(directory, writer->path);
    strrchr(directory, '/')[1] = '\0';
    if (sys_call(SYS_faccessat, AT_FDCWD, directory, F_OK) == -ENOENT)
        writer->failure = ESTALE;
}

int
writer_put_back(struct writer *writer)
{
    if (!spool_file_is_away(&writer->file))
        return 0;
    (void)writer_flush(writer);
    return spool_file_put_back(&writer->file);
}

void
writer_call(struct writer *writer, const char *path)
{
    strncpy(writer->path, path, sizeof(writer->path) - 1);
}

int
writer_succeed(struct writer *writer, struct writer *next, const char *past)
{
    if (strlen(past) >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return -1;
    }
    if (writer_put_back(writer) != 0 ||
        spool_file_succeed(writer->path, next->path, past) != 0)
        return -1;
    strcpy(next->path, writer->path);
    strcpy(writer->path, past);
    return 0;
}

uint64_t
writer_size(const struct writer *writer)
{
    return writer->batch.end;
}

void
writer_discard(struct writer *writer)
{
    spool_file_remove(writer->path);
    spool_file_release(&writer->file);
    writer_forget(writer);
}

int
writer_close(struct writer *writer)
{
    writer->gathers = false;
    int result = writer_flush(writer);
    (void)writer_put_back(writer);
    if (result == 0)
        result = spool_file_cut(&writer->file, writer->batch.end);
    spool_file_release(&writer->file);
    writer_forget(writer);
    return result;
}

void
writer_forget(struct writer *writer)
{
    sys_release(writer, sizeof(*writer));
}
