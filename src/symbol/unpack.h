/* SPDX-License-Identifier: MIT */
/*
 * unpack.h -- zlib's format, all at once. The build chooses who does it:
 * unpack_fast.c with libdeflate where there is one, else unpack_zlib.c.
 */
#ifndef SYMBOL_UNPACK_H
#define SYMBOL_UNPACK_H

#include <stdbool.h>
#include <stddef.h>

/* Inflate the FROM_SIZE bytes at FROM into the SIZE bytes at TO. False if they
 * are damaged, come to another size, or memory is short. */
bool unpack(void *to, size_t size, const void *from, size_t from_size);

#endif
