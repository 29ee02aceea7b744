/* SPDX-License-Identifier: MIT */
/*
 * writer.h -- appends records to a spool (layout.h) from inside the profiled
 * process. Used by the sampler thread alone, never while a thread is parked.
 * Allocates by mmap only; no stdio, no malloc. The file is reserved in chunks
 * by fallocate before it is touched, so a full disk is ENOSPC and never
 * SIGBUS; a chunk is mapped MAP_SHARED and the descriptor closed at once. The
 * chunks that the writer has left are given back with MADV_DONTNEED, so that
 * resident memory stays small however long the run. MADV_DONTFORK keeps the
 * mapping out of children.
 */
#ifndef STORE_WRITER_H
#define STORE_WRITER_H

#include <stddef.h>
#include <stdint.h>

#include "layout.h"

struct writer;

/*
 * Create the spool at PATH, an absolute path (O_CREAT|O_EXCL|O_NOFOLLOW|
 * O_CLOEXEC, mode 0600), with HEADER (magic, version, size and machine are
 * filled in here) and reserve its first chunk. MAX_SIZE bytes is the cap of the
 * file: no more is ever reserved. Returns the writer, or NULL with errno set
 * and no file left behind (EEXIST: a file of that name was there; it is not
 * touched).
 */
struct writer *writer_create(const char *path,
                             const struct spool_header *header,
                             uint64_t max_size);

/* Keep the file open; see chunk_keep. */
void writer_keep_open(struct writer *writer);

/*
 * Append a record of KIND: FIXED bytes at RECORD (whose head is filled in
 * here), then the parts of TAIL, in order, padded to 8 bytes. Returns the
 * record's place in the mapped file, valid until writer_close, or NULL with
 * errno set: ENOSPC or EDQUOT disk full, EOVERFLOW cap reached, EFBIG
 * RLIMIT_FSIZE, ESTALE the file is no longer at its path, or what kept the file
 * from being opened and mapped. After a NULL the spool is whole and all later
 * calls fail alike, except that one SUMMARY still finds the room that is kept
 * for it. (EINVAL: a record of more than RECORD_SIZE_MAX bytes or without a
 * head; that call alone fails.)
 */
struct writer_tail {
    const void *data;
    size_t length;
};
void *writer_append(struct writer *writer, enum record_kind kind,
                    const void *record, size_t fixed,
                    const struct writer_tail *tail, size_t parts);

/* Store VALUE into FIELD of a record that writer_append returned: one aligned
 * word, seen by readers whole. */
void writer_store(uint64_t *field, uint64_t value);

/*
 * NEXT takes the place of WRITER: from now on its file is at WRITER's path, and
 * that of WRITER at PAST, an absolute path, whatever was there before. At every
 * instant one of the two is at the first. Returns 0, or -1 with errno set; both
 * are then where they were, and nothing is at PAST.
 */
int writer_succeed(struct writer *writer, struct writer *next,
                   const char *past);

/* Bytes written so far. */
uint64_t writer_size(const struct writer *writer);

/* The path given to writer_create. */
const char *writer_path(const struct writer *writer);

/* Remove the file, and release everything. */
void writer_discard(struct writer *writer);

/* Cut the file to what was written and release everything; the file stays.
 * Returns 0, or -1 with errno set if it could not be cut (it is valid anyway).
 */
int writer_close(struct writer *writer);

/* Release the memory of a writer inherited by fork: the file is the parent's
 * and is not touched. For the child of a fork, before it makes its own. */
void writer_forget(struct writer *writer);

#endif
