/* SPDX-License-Identifier: MIT */
/*
 * elf_file.h -- one ELF file and its debug information, found and opened
 * through libdwfl. Addresses here are those of the file's own numbering
 * (st_value); libdwfl and a separate debug file may each number differently,
 * and the biases to add are given with what they apply to.
 */
#ifndef SYMBOL_ELF_FILE_H
#define SYMBOL_ELF_FILE_H

#include <elfutils/libdwfl.h>
#include <stddef.h>
#include <stdint.h>

#include "inflate.h"

struct elf_file {
    Dwfl *dwfl;
    Dwfl_Module *module; /* NULL if the file is not to be used */
    Elf *elf;
    uint64_t bias;        /* own address + BIAS = address in MODULE */
    struct inflated copy; /* its debug file as inflate.h makes it */
    Elf *inflated;        /* of COPY; NULL: the debug file is used as it is */
    Dwarf *dwarf;         /* of INFLATED */
    char *problem; /* a sentence if MODULE is NULL (may be NULL then, too) */
};

/*
 * Open PATH ("[vdso]" is this process's own) if its build-id is BUILD_ID;
 * LENGTH 0 takes any. Returns 0, or -1 with FILE->problem set; elf_file_close
 * is due in both cases.
 */
int elf_file_open(struct elf_file *file, const char *path,
                  const uint8_t *build_id, size_t length);

/* The DWARF of the file or of its debug file, NULL if there is none. An own
 * address + *BIAS (mod 2^64) is an address in the DWARF. Fastest when the
 * module's symbols have been read: then libdwfl has found the debug file. */
Dwarf *elf_file_dwarf(struct elf_file *file, uint64_t *bias);

/* Open the regular file that is called like FILE with SUFFIX behind, or like
 * its debug file. Returns a descriptor, or -1. */
int elf_file_open_beside(const struct elf_file *file, const char *suffix);

void elf_file_close(struct elf_file *file);

#endif
