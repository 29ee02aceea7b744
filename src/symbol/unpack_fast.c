/* SPDX-License-Identifier: MIT */
/*
 * unpack_fast.c -- see inflate.h. Report side. libdeflate takes less than half
 * of zlib's time. With zlib, inflating was half of the symbolizer's time for a
 * program with compressed debug files.
 */
#include <libdeflate.h>

#include "inflate.h"

bool
unpack(void *to, size_t size, const void *from, size_t from_size)
{
    struct libdeflate_decompressor *inflater = libdeflate_alloc_decompressor();
    if (inflater == NULL)
        return false;
    /* Without a place for the actual size, libdeflate treats another size as an
     * error. */
    enum libdeflate_result result =
        libdeflate_zlib_decompress(inflater, from, from_size, to, size, NULL);
    libdeflate_free_decompressor(inflater);
    return result == LIBDEFLATE_SUCCESS;
}
