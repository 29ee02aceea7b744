/* SPDX-License-Identifier: MIT */
/*
 * writer.h -- appends records to a spool (layout.h) from inside the profiled
 * process. The sampler's thread uses it, also while a thread is parked (see
 * journal.h). It allocates by mmap only: no stdio, no malloc.
 *
 * Records are laid into memory of our own, and written to the file in batches
 * (pwrite(2)): whatever somebody does to the file, it is an error code here and
 * never a signal. The file is reserved in chunks by fallocate before that, so
 * that a full disk is met by the record that has no room. What is kept in
 * memory are the last records alone, however long the run.
 */
#ifndef STORE_WRITER_H
#define STORE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "layout.h"

struct writer;

/* Parts that a record may have behind its fixed one. */
#define WRITER_PARTS 7

/*
 * Create the spool at PATH, an absolute path (O_CREAT|O_EXCL|O_NOFOLLOW|
 * O_CLOEXEC, mode 0600), with HEADER (magic, version, size and machine are
 * filled in here) and reserve its first chunk. MAX_SIZE bytes is the cap of the
 * file: no more is ever reserved. KEEPS_OPEN: see spool_file.h. Returns the
 * writer, or NULL with errno set and no file left behind (EEXIST: a file of
 * that name was there; it is not touched).
 */
struct writer *writer_create(const char *path,
                             const struct spool_header *header,
                             uint64_t max_size, bool keeps_open);

/* See spool_file_give. */
void writer_give(const struct writer *writer, uid_t uid);

/* Of a file that is kept open: see spool_file_lower. */
void writer_lower(struct writer *writer);

/* Where that is not possible, let others find it; see spool_file_show. */
void writer_show(const struct writer *writer);

/* From now on what is appended or changed waits for writer_flush, or until
 * there is much of it. Before that, all is written at once. */
void writer_gather(struct writer *writer);

/*
 * Append a record of KIND: FIXED bytes at RECORD (whose head is filled in
 * here), then the parts of TAIL, in order, padded to 8 bytes. Returns the
 * record's place in the file, or 0 with errno set: ENOSPC or EDQUOT disk full,
 * EOVERFLOW cap reached, EFBIG RLIMIT_FSIZE, ENODATA the file has been
 * shortened, ESTALE it is no longer at its path, or what kept it from being
 * opened and written. After a 0 the spool is whole and all later calls fail
 * alike, except that one SUMMARY still finds the room that is kept for it.
 * (EINVAL: a record of more than RECORD_SIZE_MAX bytes or without a head; that
 * call alone fails.)
 */
struct writer_tail {
    const void *data;
    size_t length;
};
uint64_t writer_append(struct writer *writer, enum record_kind kind,
                       const void *record, size_t fixed,
                       const struct writer_tail *tail, size_t parts);

/* LENGTH bytes from SKIP on of the record at PLACE are those at BYTES now:
 * whole words, which readers see whole. Changes reach the file before what is
 * appended after them, and without effect after a failure; nor has one of a
 * record that is more than 256 KiB back, while RLIMIT_FSIZE forbids it. */
void writer_change(struct writer *writer, uint64_t place, size_t skip,
                   const void *bytes, size_t length);

/* Let the file have all that was appended and changed. Returns 0, or -1 with
 * errno as of writer_append; what was not written yet is then lost. What is
 * gathered waits on where RLIMIT_FSIZE forbids it, as a program may set that
 * for a while: until writer_close, or until 256 KiB wait. Quick if there is
 * nothing.
 */
int writer_flush(struct writer *writer);

/* After ENODATA: begin the file anew with HEADER, at its first byte. Returns 0,
 * or -1 with errno set. */
int writer_restart(struct writer *writer, const struct spool_header *header);

/* Whether the file, which is kept open, was removed, and its directory, too. */
bool writer_is_orphan(const struct writer *writer);

/* If the file was removed or moved, put a copy of it at its path, and go on in
 * that. Returns 0, or -1 with errno set: there is no file at that path, or
 * another one. */
int writer_put_back(struct writer *writer);

/* The file was removed or moved, and another one has its path: from now on its
 * path is PATH, where nothing is yet. */
void writer_call(struct writer *writer, const char *path);

/*
 * NEXT takes the place of WRITER: from now on its file is at WRITER's path, and
 * that of WRITER at PAST, an absolute path, whatever was there before. At every
 * instant one of the two is at the first. Returns 0, or -1 with errno set; both
 * are then where they were, and nothing is at PAST.
 */
int writer_succeed(struct writer *writer, struct writer *next,
                   const char *past);

/* Bytes appended so far. */
uint64_t writer_size(const struct writer *writer);

/* The path given to writer_create. */
const char *writer_path(const struct writer *writer);

/* Remove the file, and release everything. */
void writer_discard(struct writer *writer);

/* Write what waits, cut the file to it and release everything; the file stays,
 * and a copy is put back if somebody removed or moved it.
 * Returns 0, or -1 with errno set if it could not be cut (it is valid anyway).
 */
int writer_close(struct writer *writer);

/* Release the memory of a writer inherited by fork: the file is the parent's
 * and is not touched. For the child of a fork, before it makes its own. */
void writer_forget(struct writer *writer);

#endif
