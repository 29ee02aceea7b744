/* SPDX-License-Identifier: MIT */
/*
 * batch.h -- the last bytes of a spool in memory. Some of them are not yet in
 * the file. Used by writer.c alone; see writer.h. Context: any thread.
 */
#ifndef STORE_BATCH_H
#define STORE_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "spool_file.h"

/* Bytes of the file that are held in memory. Changes of records among them are
 * written together. */
#define BATCH_WINDOW (256u << 10)

/* Limit of stretches that may have changed before they are written. */
#define BATCH_CHANGES 64

/* One part of a record. The first part of a record begins with its head. */
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
    uint64_t written; /* the file has all before this offset */
    uint64_t base;    /* offset of the window's first byte */
    uint64_t last;    /* offset of the last record */
    uint64_t known;   /* offset of a head that the file has; 0: none */
    unsigned changed; /* stretches in use */
    struct batch_stretch {
        uint64_t from, to; /* offsets in the file */
    } changes[BATCH_CHANGES];
    unsigned char window[BATCH_WINDOW];
};

/* Begin with an empty file, whose first bytes are LENGTH bytes of HEADER. */
void batch_begin(struct batch *batch, const void *header, size_t length);

/*
 * Add a record of SIZE bytes: these PARTS, and zeros behind them. Returns 0, or
 * -1 with errno as batch_flush. In both cases readers of FILE see whole records
 * only.
 */
int batch_add(struct batch *batch, struct spool_file *file, size_t size,
              const struct batch_part *parts, size_t count);

/* Replace LENGTH bytes at OFFSET, which lie before END, by BYTES. Returns 0, or
 * -1 with errno as batch_flush. */
int batch_change(struct batch *batch, struct spool_file *file, uint64_t offset,
                 const void *bytes, size_t length);

/* Write to FILE what it lacks. Returns 0, or -1 with errno: ENODATA if FILE was
 * shortened, else as spool_file.h says. */
int batch_flush(struct batch *batch, struct spool_file *file);

/* Whether a record of SIZE bytes can be added without any write. */
bool batch_has_room(const struct batch *batch, size_t size);

/* Forget what the file lacks. */
void batch_drop(struct batch *batch);

#endif
