/* SPDX-License-Identifier: MIT */
/*
 * gzip.h -- compresses bytes into a stream as they come, so that no output is
 * ever in memory as a whole; and unpacks gzip files in memory. Report side
 * only; allocates.
 */
#ifndef UTIL_GZIP_H
#define UTIL_GZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
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

/* Limit of the bytes that a file may unpack to: a few bytes can stand for very
 * many. */
#define GZIP_MOST (1ull << 30)

/* Whether LENGTH bytes begin as a gzip file does. */
bool gzip_recognize(const void *bytes, size_t length);

/* Unpack the gzip file of LENGTH bytes. Returns *SIZE bytes that the caller
 * frees. Returns NULL with errno set: EINVAL if it is damaged or cut, EFBIG if
 * it would exceed GZIP_MOST, ENOMEM if memory is short. */
uint8_t *gzip_unpack(const void *bytes, size_t length, size_t *size);

#endif
