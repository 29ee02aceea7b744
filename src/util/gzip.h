/* SPDX-License-Identifier: MIT */
/*
 * gzip.h -- compresses bytes into a stream as they come. So no output is ever
 * in memory as a whole. Report side only; allocates.
 */
#ifndef UTIL_GZIP_H
#define UTIL_GZIP_H

#include <stddef.h>
#include <stdio.h>

struct gzip;

/* Begin a gzip member on STREAM. The caller expects to add about EXPECTED
 * bytes; for few bytes, zlib needs less memory. Returns NULL with errno set if
 * memory is short. */
struct gzip *gzip_new(FILE *stream, size_t expected);

/* Compress LENGTH bytes. An error is kept and reported by gzip_end. */
void gzip_add(struct gzip *gzip, const void *bytes, size_t length);

/* Finish the member and free GZIP. STREAM stays open. Returns 0, or -1 with
 * errno set if any part of it could not be written. */
int gzip_end(struct gzip *gzip);

#endif
