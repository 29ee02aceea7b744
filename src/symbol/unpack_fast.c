/* SPDX-License-Identifier: MIT */
/*
 * unpack_fast.c -- see unpack.h. Report side. libdeflate takes less than half
 * of zlib's time, which was half of all that the symbolizer takes for a program
 * with compressed debug files.
 */
#include <libdeflate.h>

#include "unpack.h"

bool
unpack(void *to, size_t size, const void *from, size_t from_size)
{
    struct libdeflate_decompressor *inflater = libdeflate_alloc_decompressor();
    enum libdeflate_result result;

    if (!inflater)
        return (false);
    /* Without a place for the actual size, another one is an error. */
    result =
        libdeflate_zlib_decompress(inflater, from, from_size, to, size, NULL);
    libdeflate_free_decompressor(inflater);
    return (result == LIBDEFLATE_SUCCESS);
}
