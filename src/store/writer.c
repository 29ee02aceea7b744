/* SPDX-License-Identifier: MIT */
/*
 * writer.c -- lays records one behind the other into chunks of the spool's file
 * (chunk.h). Sampler thread; no malloc, no stdio.
 *
 * The hard part is that the process may die between any two instructions and
 * the file must read well up to there: a record's bytes are stored first and
 * its head last, with release order; a chunk is reserved and mapped before the
 * filler that closes the one before it is written; and whatever fails is met
 * before the first byte of the record in question was stored.
 */
#include <errno.h>
#include <limits.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/arch.h"
#include "base/sys.h"

#include "chunk.h"
#include "writer.h"

#define CHUNK_FIRST (256u << 10)
#define CHUNK_NEXT (1u << 20)

/* From 256 MiB on, a chunk is this fraction of the file: mappings are scarce (a
 * process may have 65,530), and so even a file of terabytes has few of them. */
#define CHUNK_SHARE 256

/* What a file of 2^45 bytes needs, with the rule above. */
#define CHUNKS_MAX 4096

/* Kept free at the end of every chunk, so that a full disk or cap does not keep
 * the process from writing how it ended. */
#define SUMMARY_ROOM sizeof(struct record_summary)

struct writer {
    struct chunk_file file; /* its path is PATH below */
    uint64_t cap;           /* bytes, a multiple of the page size */
    uint64_t start;         /* offset of the latest chunk in the file */
    size_t used;            /* bytes used in it */
    size_t page;            /* size of a page */
    unsigned count;         /* chunks made */
    int failure;            /* errno of the first append that failed, or 0 */
    char path[PATH_MAX];
    struct chunk chunks[CHUNKS_MAX]; /* all stay mapped; the last is filled */
};

static struct chunk *
latest(struct writer *writer)
{
    return &writer->chunks[writer->count - 1];
}

/* The magic goes in last: a file without it was never begun. */
static void
write_header(struct writer *writer, const struct spool_header *header)
{
    unsigned char *map = latest(writer)->map;
    struct spool_header filled = *header;
    uint64_t magic;

    memcpy(filled.magic, SPOOL_MAGIC, sizeof(filled.magic));
    filled.version = SPOOL_VERSION;
    filled.header_size = sizeof(filled);
    filled.machine = ARCH_MACHINE;
    memcpy(&magic, filled.magic, sizeof(magic));
    memcpy(map + sizeof(magic), &filled.version,
           sizeof(filled) - sizeof(magic));
    __atomic_store_n((uint64_t *)(void *)map, magic, __ATOMIC_RELEASE);
    writer->used = sizeof(filled);
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

struct writer *
writer_create(const char *path, const struct spool_header *header,
              uint64_t max_size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct writer *writer;

    if (check_arguments(path, max_size, page) != 0)
        return NULL;
    writer = sys_reserve(sizeof(*writer));
    if (writer == NULL) {
        errno = ENOMEM;
        return NULL;
    }
    strcpy(writer->path, path);
    writer->file.path = writer->path;
    writer->page = page;
    writer->cap = max_size / page * page;
    writer->count = 1;
    latest(writer)->size =
        CHUNK_FIRST < writer->cap ? CHUNK_FIRST : (size_t)writer->cap;
    if (chunk_create(&writer->file, latest(writer)) != 0) {
        writer_forget(writer);
        return NULL;
    }
    write_header(writer, header);
    return writer;
}

void
writer_keep_open(struct writer *writer)
{
    chunk_keep(&writer->file);
}

/* The size of the next chunk, from offset START of the file, for a record that
 * NEEDS so much; 0 if the cap does not allow it. */
static size_t
next_size(const struct writer *writer, uint64_t start, size_t needs)
{
    uint64_t size = start / CHUNK_SHARE;

    if (size < CHUNK_NEXT)
        size = CHUNK_NEXT;
    if (size < needs)
        size = needs;
    size = (size + writer->page - 1) / writer->page * writer->page;
    if (size > writer->cap - start)
        size = writer->cap - start;
    return size < needs ? 0 : (size_t)size;
}

static void
put_head(struct writer *writer, enum record_kind kind, size_t size)
{
    uint64_t offset = writer->start + writer->used;
    void *place = latest(writer)->map + writer->used;

    __atomic_store_n((uint64_t *)place,
                     record_head(offset, (uint8_t)kind, 0, (uint32_t)size),
                     __ATOMIC_RELEASE);
    writer->used += size;
}

/* Leave the latest chunk for a new one with room for NEEDS bytes. */
static int
change_chunk(struct writer *writer, size_t needs)
{
    uint64_t start = writer->start + latest(writer)->size;
    struct chunk next = {NULL, next_size(writer, start, needs)};
    size_t rest = latest(writer)->size - writer->used;

    if (next.size == 0 || writer->count == CHUNKS_MAX) {
        errno = EOVERFLOW;
        return -1;
    }
    if (chunk_extend(&writer->file, start, &next) != 0)
        return -1;
    if (rest > 0)
        put_head(writer, RECORD_FILLER, rest);
    chunk_retire(latest(writer));
    writer->chunks[writer->count++] = next;
    writer->start = start;
    writer->used = 0;
    return 0;
}

/* Make sure that the latest chunk has room for a record of KIND and SIZE. */
static int
make_room(struct writer *writer, enum record_kind kind, size_t size)
{
    size_t keep = kind == RECORD_SUMMARY ? 0 : SUMMARY_ROOM;
    size_t rest = latest(writer)->size - writer->used;

    if (writer->failure != 0 && (keep > 0 || size > rest)) {
        errno = writer->failure;
        return -1;
    }
    if (size + keep <= rest)
        return 0;
    if (change_chunk(writer, size + keep) == 0)
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

void *
writer_append(struct writer *writer, enum record_kind kind, const void *record,
              size_t fixed, const struct writer_tail *tail, size_t parts)
{
    size_t i, size = record_size(fixed, tail, parts);
    unsigned char *place, *to;

    if (size == 0) {
        errno = EINVAL;
        return NULL;
    }
    if (make_room(writer, kind, size) != 0)
        return NULL;
    place = latest(writer)->map + writer->used;
    memcpy(place + sizeof(uint64_t),
           (const unsigned char *)record + sizeof(uint64_t),
           fixed - sizeof(uint64_t));
    to = place + fixed;
    for (i = 0; i < parts; i++) {
        if (tail[i].length > 0)
            memcpy(to, tail[i].data, tail[i].length);
        to += tail[i].length;
    }
    /* The padding is zero already: nobody wrote to this chunk before. */
    put_head(writer, kind, size);
    return place;
}

void
writer_store(uint64_t *field, uint64_t value)
{
    __atomic_store_n(field, value, __ATOMIC_RELEASE);
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
    return writer->start + writer->used;
}

const char *
writer_path(const struct writer *writer)
{
    return writer->path;
}

static void
unmap_all(struct writer *writer)
{
    for (unsigned i = 0; i < writer->count; i++)
        chunk_unmap(&writer->chunks[i]);
}

void
writer_discard(struct writer *writer)
{
    unmap_all(writer);
    syscall(SYS_unlinkat, AT_FDCWD, writer->path, 0);
    chunk_release(&writer->file);
    writer_forget(writer);
}

int
writer_close(struct writer *writer)
{
    int result;

    unmap_all(writer);
    result = chunk_cut(&writer->file, writer_size(writer));
    chunk_release(&writer->file);
    writer_forget(writer);
    return result;
}

/* The chunks are not there in a child (MADV_DONTFORK); what lies at their
 * addresses now is not ours to unmap. */
void
writer_forget(struct writer *writer)
{
    sys_release(writer, sizeof(*writer));
}
