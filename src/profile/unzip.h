/* SPDX-License-Identifier: MIT */
/* unzip.h -- what gzip made, in memory. */
#ifndef PROFILE_UNZIP_H
#define PROFILE_UNZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is unpacked to more is refused: a few bytes can be made to say much. */
#define UNZIP_MOST (1ull << 30)

/* Whether LENGTH bytes begin as a gzip file does. */
bool unzip_recognize(const void *bytes, size_t length);

/* What the gzip file of LENGTH bytes has in it, *SIZE bytes that the caller
 * frees. NULL with errno set: EINVAL it is damaged or cut, EFBIG there would be
 * more than UNZIP_MOST, ENOMEM. */
uint8_t *unzip(const void *bytes, size_t length, size_t *size);

#endif
