/* SPDX-License-Identifier: MIT */
/*
 * inflate.h -- opens a file of debug information and inflates its compressed
 * sections in memory, before libdw sees them.
 */
#ifndef SYMBOL_INFLATE_H
#define SYMBOL_INFLATE_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>

/* ELFCOMPRESS_ZSTD of the gABI, "Compressed Sections"; elf.h has it since glibc
 * 2.37. */
#define INFLATE_ZSTD 2u

struct inflated {
    Elf *elf; /* NULL: the file could not be opened */
    void *bytes;
    size_t size; /* of BYTES, what its sections became */
};

/*
 * Open the ELF file FD, and inflate its compressed debug sections. Several are
 * inflated at a time if CPUs are free. Sections that this program does not read
 * (the places of variables) become empty. Returns whether any of them was
 * compressed. A section that is damaged, or that this build cannot inflate,
 * stays as it is. If memory is short, all do. ELF reads FD until the caller
 * calls elf_cntl with ELF_C_FDREAD.
 */
bool inflate_open(struct inflated *inflated, int fd);

/* The kind of compression that a debug section of ELF (may be NULL) still has:
 * ch_type of elf(5). 0 if none is compressed. */
unsigned inflate_left(Elf *elf);

/* Inflate the FROM_SIZE bytes at FROM, of zlib's format, into the SIZE bytes at
 * TO. False if they are damaged, have another inflated size, or memory is
 * short. The build chooses the library: unpack_fast.c uses libdeflate if it is
 * installed, else unpack_zlib.c uses zlib. */
bool unpack(void *to, size_t size, const void *from, size_t from_size);

/* The same for zstd's format (RFC 8878). The build chooses: unpack_zstd.c uses
 * libzstd if it is installed, else unpack_no_zstd.c inflates nothing. */
bool unpack_zstd(void *to, size_t size, const void *from, size_t from_size);

/* Whether unpack_zstd can inflate anything. */
bool unpack_zstd_is_there(void);

void inflate_free(struct inflated *inflated);

#endif
