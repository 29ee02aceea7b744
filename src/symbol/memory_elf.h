/* SPDX-License-Identifier: MIT */
/*
 * memory_elf.h -- makes an ELF file in memory out of sections, for libraries
 * that read only files.
 */
#ifndef SYMBOL_MEMORY_ELF_H
#define SYMBOL_MEMORY_ELF_H

#include <stddef.h>

#include "bytes.h"

struct memory_section {
    const char *name;
    struct bytes bytes;
};

/* Write a file of COUNT sections. Sections with AT NULL are left out. Returns
 * its descriptor (memfd_create(2), Linux 3.17), or -1. */
int memory_elf_make(const struct memory_section *sections, size_t count);

#endif
