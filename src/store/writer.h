/* SPDX-License-Identifier: MIT */
/*
 * writer.h -- appends records to a spool (layout.h) from inside the profiled
 * process. Records are gathered in memory and written in batches by pwrite(2).
 * So whatever another process does to the file, the result is an error code and
 * never a signal. The file is reserved in chunks by fallocate(2) before that:
 * the first record that has no room meets a full disk. Only the last records
 * are in memory, however long the run.
 *
 * The functions call neither malloc nor stdio, and take no lock. One thread at
 * a time uses a writer. The sampler never uses it while it serves a parked
 * thread. Functions that return an error leave it in errno.
 * Context: any thread.
 */
#ifndef STORE_WRITER_H
#define STORE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "layout.h"
#include "spool_file.h"

struct writer;

/* Limit of the parts that a record has after its fixed part. */
#define WRITER_PARTS 7

/*
 * Create the spool at PATH, an absolute path (O_CREAT|O_EXCL|O_NOFOLLOW|
 * O_CLOEXEC, mode 0600), with HEADER, and reserve its first chunk. The writer
 * fills in the header's magic, version, size and machine. The file never has
 * more than MAX_SIZE bytes. KEEPS_OPEN: see spool_file_create. Returns the
 * writer, or NULL and no new file: EEXIST if PATH exists, which is not touched.
 */
struct writer *writer_create(const char *path,
                             const struct spool_header *header,
                             uint64_t max_size, bool keeps_open);

/* The file itself, with its present path (spool_file.h). */
struct spool_file *writer_file(struct writer *writer);

/* From now on records and changes are gathered until writer_flush, or until
 * 256 KiB wait. Before that, each is written at once. */
void writer_gather(struct writer *writer);

/*
 * Append a record of KIND: FIXED bytes at RECORD, whose head is filled in here;
 * then the parts of TAIL, padded to 8 bytes. Returns the record's place in the
 * file, or 0 with errno:
 *   ENOSPC, EDQUOT  the disk is full
 *   EOVERFLOW       the cap is reached
 *   EFBIG           RLIMIT_FSIZE is reached
 *   ENODATA         the file was shortened
 *   ESTALE          the file is no longer at its path
 *   EINVAL          a record of more than RECORD_SIZE_MAX bytes or without a
 *                   head; this call alone fails
 *   others          the file could not be opened or written
 * After a failure the spool is whole, and all later calls fail alike. But one
 * SUMMARY still finds the room that is kept for it.
 */
struct writer_tail {
    const void *data;
    size_t length;
};
uint64_t writer_append(struct writer *writer, enum record_kind kind,
                       const void *record, size_t fixed,
                       const struct writer_tail *tail, size_t parts);

/* Returns the errno of the first failure; 0: no call failed. */
int writer_error(const struct writer *writer);

/* Replace LENGTH bytes, from SKIP on, of the record at PLACE by BYTES. They are
 * whole words, and readers see whole words. A change reaches the file before
 * later records do. It has no effect after a failure. While RLIMIT_FSIZE
 * forbids writes, a record more than 256 KiB back is not changed. */
void writer_change(struct writer *writer, uint64_t place, size_t skip,
                   const void *bytes, size_t length);

/*
 * Write to the file all that was appended and changed. Returns 0, or -1 with
 * errno as writer_append; what was not written is then lost. While RLIMIT_FSIZE
 * forbids writes, gathered records wait until writer_close, or until they are
 * 256 KiB. Quick if all is written.
 */
int writer_flush(struct writer *writer);

/* After ENODATA: begin the file anew with HEADER. Returns 0 or -1. */
int writer_restart(struct writer *writer, const struct spool_header *header);

/* Whether a reader follows the file (reader_follow). */
bool writer_is_followed(const struct writer *writer);

/* If the file, which is kept open, was removed together with its directory, no
 * reader can find it: let writer_append fail with ESTALE. */
void writer_heed_removal(struct writer *writer);

/* If the file was removed or moved, put a copy at its path and write to that
 * from now on. Returns 0, or -1: EEXIST if another file is there. */
int writer_put_back(struct writer *writer);

/* The file was removed or moved, and another file has its path. From now on its
 * path is PATH, where no file is yet. */
void writer_call(struct writer *writer, const char *path);

/*
 * Replace WRITER by NEXT: NEXT's file gets WRITER's path. WRITER's file gets
 * the absolute path PAST, and may replace a file there. At every instant one of
 * the two files has WRITER's path. Returns 0, or -1; then both have their
 * paths, and no file is at PAST.
 */
int writer_succeed(struct writer *writer, struct writer *next,
                   const char *past);

/* Bytes appended so far. */
uint64_t writer_size(const struct writer *writer);

/* Remove the file, and release the writer. */
void writer_discard(struct writer *writer);

/* Write what is gathered, cut the file to its records and release the writer.
 * If the file was removed or moved, a copy is put back. Returns 0, or -1 if the
 * file could not be cut; it is valid anyway. */
int writer_close(struct writer *writer);

/* Release the memory of a writer that a child inherited by fork. The parent's
 * file is not touched. */
void writer_forget(struct writer *writer);

#endif
