/* SPDX-License-Identifier: MIT */
/*
 * reader.h -- reads a spool (layout.h) that may be finished, killed, damaged,
 * truncated or still growing. It never crashes on any content, and never trusts
 * a length. Report side only; may allocate. Not thread-safe.
 *
 * The file is read through a window of some 256 KiB, not mapped. A file that
 * shrinks under a mapping raises SIGBUS, and a spool of 1 GiB must not cost 1
 * GiB. The reader guarantees the structure of each record. The caller checks
 * whether ids are known and enums are in their range.
 */
#ifndef STORE_READER_H
#define STORE_READER_H

#include <stddef.h>
#include <stdint.h>

#include "layout.h"
#include "record.h"

struct reader;

/*
 * Open the spool at PATH. Returns NULL with a sentence in ERROR (of SIZE bytes)
 * that says what is wrong and what was expected: "x.sprof: not a spool (no
 * SPROFSP header)".
 */
struct reader *reader_open(const char *path, char *error, size_t size);

/* Open a spool of LENGTH bytes in memory, of any alignment, which stay valid
 * until reader_end. Sentences call it "spool". Returns as reader_open. */
struct reader *reader_open_memory(const void *bytes, size_t length, char *error,
                                  size_t size);

/* Open the spool that a flight recorder has put aside at its last rotation:
 * NAME.past.sprof beside the spool at PATH, NAME.sprof, with this HEADER. The
 * recorder may rotate meanwhile, so the opened spool may be the same as that
 * one, or newer: see spool_header.begin. Returns NULL if there is none, or if
 * it belongs to another process. */
struct reader *reader_open_past(const char *path,
                                const struct spool_header *header);

/* Whether PATH is a regular file that begins as a spool does: 1 or 0. */
int reader_recognize(const char *path);

/* The header of the spool, valid until reader_end. */
const struct spool_header *reader_header(const struct reader *reader);

/* Let the process that writes the spool see that it is followed: hold a read
 * lock on the first byte until reader_end (fcntl(2), F_OFD_SETLK, Linux 3.15).
 * Without such locks the process does not see it. */
void reader_follow(const struct reader *reader);

/*
 * Return the next valid record, aligned to 8, and set *KIND. The bytes are
 * VALID UNTIL THE NEXT CALL of reader_next, reader_go or reader_end. The caller
 * copies what it needs longer. All lengths inside are checked and all strings
 * end with NUL; the accessors are in record.h. Fillers and kinds that this
 * version does not know are skipped.
 *
 * Returns NULL at the end; reader_problem then says whether the end is regular.
 * After a regular end, another call looks again and continues with newly
 * written records. After a problem, only reader_go continues.
 */
const void *reader_next(struct reader *reader, enum record_kind *kind);

/* The offset in the file of the record that reader_next returned last. */
uint64_t reader_place(const struct reader *reader);

/*
 * Copy the first SIZE bytes of the record at PLACE, or all if it is smaller, as
 * they are now. Fields stored in place (layout.h) may have changed since. A
 * sample's flags are stored last. If they are final, the other fields of a
 * LATER copy are final, too. Returns 0, or -1 if the record is no longer there.
 * The position of READER does not change.
 */
int reader_again(const struct reader *reader, uint64_t place, void *record,
                 size_t size);

/* The offset in the file of the next record. */
uint64_t reader_offset(const struct reader *reader);

/* Free what READER has copied. The next record is read from the file again. */
void reader_rest(struct reader *reader);

/* Go to OFFSET, which reader_offset returned or at which a record begins. The
 * reader then sees all changes up to now. */
void reader_go(struct reader *reader, uint64_t offset);

/* NULL if the last end was regular, else a sentence: "x.sprof: damaged at byte
 * 4711 of 8192: ...; everything before it is used". Valid until the next call
 * with this reader. */
const char *reader_problem(const struct reader *reader);

/* Close READER, which may be NULL. */
void reader_end(struct reader *reader);

#endif
