/* SPDX-License-Identifier: MIT */
/*
 * writer.c -- lays records one behind the other (batch.h) into a file that is
 * reserved before them (spool_file.h). Sampler thread; no malloc, no stdio.
 *
 * The hard part is that whatever fails must leave a file that reads well: the
 * first failure ends all, what was not written is dropped, and only how the
 * process ended may still follow.
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

#define CHUNK_FIRST (256u << 10)
#define CHUNK_NEXT (1u << 20)

/* From 256 MiB on, a chunk is this fraction of the file: there are few
 * reservations however long it is. */
#define CHUNK_SHARE 256

/* Kept free at the end of what is reserved, so that a full disk or cap does not
 * keep the process from writing how it ended. */
#define SUMMARY_ROOM sizeof(struct record_summary)

/* Of a record with its head, in bytes: the largest that is not an array. */
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

/* The file is empty: HEADER is what it begins with. */
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
    struct writer *writer;

    if (check_arguments(path, max_size, page) != 0)
        return NULL;
    writer = sys_reserve_for_one(sizeof(*writer));
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

/* ERROR ends it. Where some of the batch has come into the file, no record may
 * be seen in it. */
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

/* Whether ERROR may be gone when more was gathered: a program lowers
 * RLIMIT_FSIZE for a while, and then even what the file has cannot be written
 * beyond it. */
static bool
may_pass(const struct writer *writer, int error)
{
    return error == EFBIG && writer->gathers;
}

/* The size of the file with the next chunk, so that it has room for NEEDS more
 * bytes; 0 if the cap does not allow it. */
static uint64_t
next_size(const struct writer *writer, size_t needs)
{
    uint64_t more = writer->file.size / CHUNK_SHARE;
    uint64_t size, least = writer->batch.end + needs;

    if (more < CHUNK_NEXT)
        more = CHUNK_NEXT;
    size = writer->file.size + more;
    if (size < least)
        size = least;
    size = (size + writer->page - 1) / writer->page * writer->page;
    if (size > writer->cap)
        size = writer->cap;
    return size < least ? 0 : size;
}

/* Room in the file for SIZE bytes more than it has and are gathered. Returns 0,
 * or -1 with errno. */
static int
grow(struct writer *writer, size_t size)
{
    uint64_t next;

    if (writer->batch.end + size <= writer->file.size)
        return 0;
    next = next_size(writer, size);
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

/* Make sure that the file has room for a record of KIND and SIZE; or that it
 * can wait for that. */
static int
make_room(struct writer *writer, enum record_kind kind, size_t size)
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

/* The size of a record of these parts; 0 if it could not be one. */
static size_t
record_size(size_t fixed, const struct writer_tail *tail, size_t parts)
{
    size_t i, size = fixed;

    if (fixed < sizeof(uint64_t) || fixed > RECORD_SIZE_MAX)
        return 0;
    for (i = 0; i < parts; i++) {
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
    uint64_t head;

    if (size == 0 || fixed > FIXED_MAX || parts > WRITER_PARTS) {
        errno = EINVAL;
        return 0;
    }
    if (make_room(writer, kind, size) != 0)
        return 0;
    head = record_head(writer->batch.end, (uint8_t)kind, 0, (uint32_t)size);
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

bool
writer_is_orphan(const struct writer *writer)
{
    char directory[PATH_MAX];

    if (!spool_file_is_removed(&writer->file))
        return false;
    strcpy(directory, writer->path);
    strrchr(directory, '/')[1] = '\0';
    return syscall(SYS_faccessat, AT_FDCWD, directory, F_OK) != 0 &&
           errno == ENOENT;
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

/* Where a file system knows no second names, the first one is free for an
 * instant. */
int
writer_succeed(struct writer *writer, struct writer *next, const char *past)
{
    long moved;

    if (strlen(past) >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return -1;
    }
    if (writer_put_back(writer) != 0)
        return -1;
    syscall(SYS_unlinkat, AT_FDCWD, past, 0);
    moved = syscall(SYS_linkat, AT_FDCWD, writer->path, AT_FDCWD, past, 0);
    if (moved != 0 && errno != ENOENT)
        moved =
            syscall(SYS_renameat2, AT_FDCWD, writer->path, AT_FDCWD, past, 0u);
    if (moved != 0)
        return -1;
    if (syscall(SYS_renameat2, AT_FDCWD, next->path, AT_FDCWD, writer->path,
                0u) != 0) {
        int saved = errno;
        /* Without effect if both names are still those of one file. */
        syscall(SYS_renameat2, AT_FDCWD, past, AT_FDCWD, writer->path, 0u);
        syscall(SYS_unlinkat, AT_FDCWD, past, 0);
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
    syscall(SYS_unlinkat, AT_FDCWD, writer->path, 0);
    spool_file_release(&writer->file);
    writer_forget(writer);
}

int
writer_close(struct writer *writer)
{
    int result;

    writer->gathers = false;
    result = writer_flush(writer);
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
