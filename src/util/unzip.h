/* SPDX-License-Identifier: MIT */
/* unzip.h -- unpacks gzip files in memory. */
#ifndef UTIL_UNZIP_H
#define UTIL_UNZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Most bytes that a file may unpack to: a few bytes can stand for very many. */
#define UNZIP_MOST (1ull << 30)

/* Whether LENGTH bytes begin as a gzip file does. */
bool unzip_recognize(const void *bytes, size_t length);

/* Unpack the gzip file of LENGTH bytes. Returns *SIZE bytes that the caller
 * frees. Returns NULL with errno set: EINVAL if it is damaged or cut, EFBIG if
 * it would exceed UNZIP_MOST, ENOMEM if memory is short. */
uint8_t *unzip(const void *bytes, size_t length, size_t *size);

#endif
