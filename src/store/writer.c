/* SPDX-License-Identifier: MIT */
/*
 * writer.c -- see writer.h. Records are gathered in memory (batch.h), and the
 * file is reserved before they are written (spool_file.h). No malloc, no stdio.
 *
 * The hard thing is that every failure must leave a file that reads well. The
 * first failure drops what was not written. After it only a summary is written.
 */
#include <errno.h>
#include <limits.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/arch.h"
#include "base/sys.h"
#include "batch.h"
#include "spool_file.h"
#include "writer.h"

/* Bytes that are reserved at first, and least number for each later chunk. */
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

struct writer {
    struct spool_file file; /* its path is PATH below */
    uint64_t cap;           /* bytes, a multiple of the page size */
    size_t page;            /* size of a page */
    bool gathers;           /* writes wait for a flush */
    int failure;            /* errno of the first append that failed, or 0 */
    char path[PATH_MAX];
    struct batch batch;
};

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

void
writer_give(const struct writer *writer, uid_t uid)
{
    spool_file_give(&writer->file, uid);
}

void
writer_lower(struct writer *writer)
{
    spool_file_lower(&writer->file);
}

void
writer_show(const struct writer *writer)
{
    spool_file_show(&writer->file);
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
 * RLIMIT_FSIZE for a while, and what is gathered waits that long. */
static bool
may_pass(const struct writer *writer, int error)
{
    return error == EFBIG && writer->gathers;
}

/* Returns the size that the file gets by the next chunk, with room for NEEDS
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
    struct batch_part all[WRITER_PARTS + 1];
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
    all[0] = (struct batch_part){with_head, fixed};
    for (size_t i = 0; i < parts; i++)
        all[i + 1] = (struct batch_part){tail[i].data, tail[i].length};
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

void
writer_heed_removal(struct writer *writer)
{
    char directory[PATH_MAX];
    if (!spool_file_is_removed(&writer->file))
        return;
    strcpy(directory, writer->path);
    strrchr(directory, '/')[1] = '\0';
    if (arch_syscall(SYS_faccessat, AT_FDCWD, (long)directory, F_OK, 0, 0, 0) ==
        -ENOENT)
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

static void
remove_name(const char *path)
{
    (void)arch_syscall(SYS_unlinkat, AT_FDCWD, (long)path, 0, 0, 0, 0);
}

static long
rename_file(const char *from, const char *to)
{
    return spool_file_call(SYS_renameat2, AT_FDCWD, (long)from, AT_FDCWD,
                           (long)to, 0);
}

/* Give the file at PATH the name PAST, too. In a file system without hard links
 * PATH is free for an instant. */
static long
link_file(const char *path, const char *past)
{
    long result = spool_file_call(SYS_linkat, AT_FDCWD, (long)path, AT_FDCWD,
                                  (long)past, 0);
    return result != 0 && errno != ENOENT ? rename_file(path, past) : result;
}

int
writer_succeed(struct writer *writer, struct writer *next, const char *past)
{
    if (strlen(past) >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return -1;
    }
    if (writer_put_back(writer) != 0)
        return -1;
    remove_name(past);
    if (link_file(writer->path, past) != 0)
        return -1;
    if (rename_file(next->path, writer->path) != 0) {
        int saved = errno;
        /* Without effect if both names are still those of one file. */
        (void)rename_file(past, writer->path);
        remove_name(past);
        errno = saved;
        return -1;
    }
    strcpy(next->path, writer->path);
    strcpy(writer->path, past);
    return 0;
}

uint64_t
writer_size(const struct writer *writer)
{
    return writer->batch.end;
}

const char *
writer_path(const struct writer *writer)
{
    return writer->path;
}

void
writer_discard(struct writer *writer)
{
    remove_name(writer->path);
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
