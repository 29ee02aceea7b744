/* SPDX-License-Identifier: MIT */
/*
 * batch.h -- the last bytes of a spool in memory, of which a part waits to be
 * written. Used by writer.c alone; its context is that of writer.h.
 */
#ifndef STORE_BATCH_H
#define STORE_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "spool_file.h"

/* Bytes of the file that are held in memory. Changes of records in them are
 * written together. */
#define BATCH_WINDOW (256u << 10)

/* Stretches that may have changed before they are written. */
#define BATCH_CHANGES 64

/* What a record is made of; the first begins with its head. */
struct batch_part {
    const void *data;
    size_t length;
};

/*
 *   file     | written: readers see it         | reserved: zeros        |
 *            0                        written  end                   size
 *   window                  |##########|-------|
 *                         base  changes   batch
 */
struct batch {
    uint64_t end;     /* offset in the file behind the last record */
    uint64_t written; /* up to there the file has it */
    uint64_t base;    /* offset of the window's first byte */
    uint64_t last;    /* offset of the last record */
    uint64_t known;   /* offset of a head that the file has, 0 none */
    unsigned changed; /* stretches in use */
    struct batch_stretch {
        uint64_t from, to; /* offsets in the file */
    } changes[BATCH_CHANGES];
    unsigned char window[BATCH_WINDOW];
};

/* FILE is empty: it begins with LENGTH bytes of HEADER. */
void batch_begin(struct batch *batch, const void *header, size_t length);

/*
 * Add a record of SIZE bytes with these PARTS, zeros behind them. Returns 0, or
 * -1 with errno set as of batch_flush. What a reader sees of FILE is whole in
 * either case.
 */
int batch_add(struct batch *batch, struct spool_file *file, size_t size,
              const struct batch_part *parts, size_t count);

/* What lies at OFFSET, before END, are these LENGTH BYTES now. Returns as
 * batch_flush. */
int batch_change(struct batch *batch, struct spool_file *file, uint64_t offset,
                 const void *bytes, size_t length);

/* Write what waits. Returns 0, or -1 with errno set: ENODATA if FILE was
 * shortened, or as of spool_file.h. */
int batch_flush(struct batch *batch, struct spool_file *file);

/* Whether a record of SIZE bytes can be added without a write: as it is where
 * RLIMIT_FSIZE forbids that. */
bool batch_has_room(const struct batch *batch, size_t size);

/* Forget what waits. */
void batch_drop(struct batch *batch);

#endif
