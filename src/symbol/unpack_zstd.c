/* SPDX-License-Identifier: MIT */
/* unpack_zstd.c -- see inflate.h. Report side. */
#include <zstd.h>

#include "inflate.h"

/* An error is a number that is larger than any size. */
bool
unpack_zstd(void *to, size_t size, const void *from, size_t from_size)
{
    return ZSTD_decompress(to, size, from, from_size) == size;
}

bool
unpack_zstd_is_there(void)
{
    return true;
}
