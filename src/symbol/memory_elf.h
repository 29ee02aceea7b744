/* SPDX-License-Identifier: MIT */
/*
 * memory_elf.h -- an ELF file that is made of sections and lies in memory: what
 * a library wants as a file, and what is none.
 */
#ifndef SYMBOL_MEMORY_ELF_H
#define SYMBOL_MEMORY_ELF_H

#include <stddef.h>

#include "bytes.h"

struct memory_section {
    const char *name;
    struct bytes bytes;
};

/* Write a file of COUNT sections; those with AT NULL are left out. Returns its
 * descriptor (memfd_create(2), Linux 3.17), or -1. */
int memory_elf_make(const struct memory_section *sections, size_t count);

#endif
