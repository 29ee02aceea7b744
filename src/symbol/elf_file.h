/* SPDX-License-Identifier: MIT */
/*
 * elf_file.h -- one ELF file and its debug information, found and opened
 * through libdwfl.
 *
 * Addresses here are in the file's own numbering (st_value). libdwfl and a
 * separate debug file may each number differently. The bias to add is next to
 * the data to which it applies.
 */
#ifndef SYMBOL_ELF_FILE_H
#define SYMBOL_ELF_FILE_H

#include <elfutils/libdwfl.h>
#include <stddef.h>
#include <stdint.h>

#include "inflate.h"

struct elf_file {
    Dwfl *dwfl;
    Dwfl_Module *module; /* NULL if the file must not be used */
    Elf *elf;
    uint64_t bias;          /* own address + BIAS = address in MODULE */
    struct inflated copy;   /* the file or its debug file, inflated */
    Dwarf *dwarf;           /* of COPY; NULL: libdwfl's is used */
    struct inflated shared; /* what it shares with other files (dwz) ... */
    Dwarf *shared_dwarf;    /* ... if libdw cannot read it, else NULL */
    char *problem; /* a sentence if MODULE is NULL; NULL if memory was short */
    char *unread;  /* a sentence if debug sections cannot be read, else NULL */
};

/* As elf_view_set_root, and for debug files, too. Returns 0, or -1 with
 * errno set. */
int elf_file_set_root(const char *root);

/*
 * Open PATH if its build-id is BUILD_ID; LENGTH 0 takes any. "[vdso]" is this
 * process's own. Returns 0, or -1 with FILE->problem set. The caller calls
 * elf_file_close in both cases.
 */
int elf_file_open(struct elf_file *file, const char *path,
                  const uint8_t *build_id, size_t length);

/* Returns the DWARF of the file or of its debug file, NULL if neither has any.
 * An own address + *BIAS (mod 2^64) is an address in the DWARF. It is fastest
 * after the module's symbols have been read, because libdwfl has then found the
 * debug file. Sets FILE->unread. */
Dwarf *elf_file_dwarf(struct elf_file *file, uint64_t *bias);

/* Open the regular file whose path is that of FILE, or of its debug file, with
 * SUFFIX after it. Returns a descriptor, or -1. *PATH gets its path, which the
 * caller frees. */
int elf_file_open_beside(const struct elf_file *file, const char *suffix,
                         char **path);

/* Returns the path of the file NAME in the directory of FILE, or in that of its
 * debug file. The caller frees it. NULL if memory is short. */
char *elf_file_beside(const struct elf_file *file, bool is_debug_file,
                      const char *name);

/* Set FILE->unread if debug sections of ELF (may be NULL), the file at PATH,
 * are still compressed. */
void elf_file_note_unread(struct elf_file *file, const char *path, Elf *elf);

void elf_file_close(struct elf_file *file);

#endif
