/* SPDX-License-Identifier: MIT */
/*
 * gzip.h -- compresses bytes into a stream as they come, so that no output is
 * ever in memory as a whole. Report side only; allocates.
 */
#ifndef WRITE_GZIP_H
#define WRITE_GZIP_H

#include <stddef.h>
#include <stdio.h>

struct gzip;

/* Begin a gzip member on STREAM, of which about EXPECTED bytes will come: of
 * few, zlib needs less memory. NULL with errno set if memory is short. */
struct gzip *gzip_new(FILE *stream, size_t expected);

/* Compress LENGTH bytes. An error is kept and reported by gzip_end. */
void gzip_add(struct gzip *gzip, const void *bytes, size_t length);

/* Finish the member and release GZIP; STREAM stays open. Returns 0, or -1 with
 * errno set if anything of it could not be written. */
int gzip_end(struct gzip *gzip);

#endif
