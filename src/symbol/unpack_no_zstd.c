/* SPDX-License-Identifier: MIT */
/* unpack_no_zstd.c -- see inflate.h. Report side. */
#include "inflate.h"

bool
unpack_zstd(void *to, size_t size, const void *from, size_t from_size)
{
    (void)to, (void)size, (void)from, (void)from_size;
    return false;
}

bool
unpack_zstd_is_there(void)
{
    return false;
}
