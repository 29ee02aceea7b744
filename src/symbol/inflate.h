/* SPDX-License-Identifier: MIT */
/*
 * inflate.h -- copies a file of debug information into memory with its sections
 * inflated.
 */
#ifndef SYMBOL_INFLATE_H
#define SYMBOL_INFLATE_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>

struct inflated {
    void *bytes;
    size_t size;
    Elf *elf; /* of BYTES */
};

/*
 * Copy the ELF file FD into memory and open the copy, with its compressed
 * sections inflated. Several are inflated at a time if there are CPUs for it.
 * Sections that this program does not read (the places of variables) stay
 * empty. The caller may close FD afterwards. Returns false if nothing is
 * compressed, or not by zlib. Returns false too if other files belong to it, it
 * is damaged, or memory is short. The caller then uses FD itself.
 */
bool inflate_file(struct inflated *inflated, int fd);

/* Inflate the FROM_SIZE bytes at FROM, of zlib's format, into the SIZE bytes at
 * TO. False if they are damaged, have another inflated size, or memory is
 * short. The build chooses the library: unpack_fast.c uses libdeflate if it is
 * installed, else unpack_zlib.c uses zlib. */
bool unpack(void *to, size_t size, const void *from, size_t from_size);

void inflate_free(struct inflated *inflated);

#endif
