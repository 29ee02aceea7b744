/* SPDX-License-Identifier: MIT */
/*
 * reader.h -- reads a spool (layout.h): finished, killed, damaged, truncated or
 * still growing. Never crashes on any content, and never trusts a length.
 * Report side only; may allocate. Not thread-safe.
 *
 * The file is read through a window of some 256 KiB, not mapped: a file that
 * shrinks under a mapping is SIGBUS, and a spool of 1 GiB must not cost 1 GiB.
 * What is guaranteed is the structure of each record; whether ids are known and
 * enums are in their range is for the user of the records to judge.
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

/* The same for LENGTH bytes in memory, of any alignment, that stay valid until
 * reader_end. Sentences call it "spool". */
struct reader *reader_open_memory(const void *bytes, size_t length, char *error,
                                  size_t size);

/* Whether PATH is a regular file that begins as a spool does: 1 or 0. */
int reader_recognize(const char *path);

/* Valid until reader_end. */
const struct spool_header *reader_header(const struct reader *reader);

/*
 * The next valid record: its kind in *KIND, its bytes as the return value,
 * aligned to 8 and VALID UNTIL THE NEXT CALL of reader_next, reader_rewind or
 * reader_end: copy what is needed for longer. All lengths inside are checked
 * and all strings end with NUL; the accessors are in record.h. Fillers and
 * kinds that this version does not know are passed over.
 *
 * NULL at the end; reader_problem then says whether it was a regular one. After
 * a regular end another call looks again and goes on with what was written
 * since; after a problem only reader_rewind does.
 */
const void *reader_next(struct reader *reader, enum record_kind *kind);

/* Where in the file the record lies that reader_next returned last. */
uint64_t reader_place(const struct reader *reader);

/*
 * Copy the first SIZE bytes of the record at PLACE, or all if it is smaller, as
 * they are now: what is stored in place (layout.h) may have changed since. What
 * is stored last, a sample's flags, vouches for the rest of a LATER copy.
 * Returns 0, or -1 if the record is no longer there; nothing else about READER
 * changes.
 */
int reader_again(const struct reader *reader, uint64_t place, void *record,
                 size_t size);

/* Back to the first record, seeing all that has been written or stored in place
 * since. */
void reader_rewind(struct reader *reader);

/* Where the reader stands: the offset in the file of what comes next. */
uint64_t reader_offset(const struct reader *reader);

/* Go to OFFSET, one that reader_offset told or the beginning of a record, and
 * see all that has been written or stored in place since. */
void reader_go(struct reader *reader, uint64_t offset);

/* NULL if the last end was a regular one, else a sentence: "x.sprof: damaged at
 * byte 4711 of 8192: ...; everything before it is used". Valid until the next
 * call with this reader. */
const char *reader_problem(const struct reader *reader);

/* NULL is allowed. */
void reader_end(struct reader *reader);

#endif
