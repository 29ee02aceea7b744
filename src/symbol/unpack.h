/* SPDX-License-Identifier: MIT */
/*
 * unpack.h -- inflates zlib's format in one call. The build chooses the
 * library: unpack_fast.c uses libdeflate if it is installed, else unpack_zlib.c
 * uses zlib.
 */
#ifndef SYMBOL_UNPACK_H
#define SYMBOL_UNPACK_H

#include <stdbool.h>
#include <stddef.h>

/* Inflate the FROM_SIZE bytes at FROM into the SIZE bytes at TO. False if they
 * are damaged, have another inflated size, or memory is short. */
bool unpack(void *to, size_t size, const void *from, size_t from_size);

#endif
