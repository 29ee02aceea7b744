/* SPDX-License-Identifier: MIT */
/* unpack_zlib.c -- see inflate.h. Report side. */
#include <zlib.h>

#include "inflate.h"

bool
unpack(void *to, size_t size, const void *from, size_t from_size)
{
    uLongf done = size;
    return uncompress(to, &done, from, from_size) == Z_OK && done == size;
}
