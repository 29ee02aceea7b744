/* SPDX-License-Identifier: MIT */
/*
 * sections.h -- finds the sections of debug information that this folder reads
 * itself, and not only through libdw.
 */
#ifndef SYMBOL_SECTIONS_H
#define SYMBOL_SECTIONS_H

#include <elfutils/libdw.h>
#include <gelf.h>

#include "bytes.h"

#define SECTIONS_LARGE 4

/* A section that the file lacks is empty. */
struct sections {
    struct bytes info, line, line_str, str, ranges, rnglists;
    struct bytes large[SECTIONS_LARGE]; /* the large ones; see sections_rest */
    size_t large_count;
};

/* Returns the section of ELF (may be NULL) after SECTION; NULL asks for the
 * first. *HEADER and *NAME get its header and name. Sections without a name are
 * skipped. NULL after the last one. */
Elf_Scn *sections_next(Elf *elf, Elf_Scn *section, GElf_Shdr *header,
                       const char **name);

/* The section of ELF (may be NULL) called NAME. AT is NULL if it is missing or
 * compressed. */
struct bytes sections_find(Elf *elf, const char *name);

/* Find the sections in the file of DWARF, which stays open as long as they are
 * used. */
void sections_read(struct sections *sections, Dwarf *dwarf);

/* Give back the memory of the pages that were read from large sections. They
 * are read again when needed. */
void sections_rest(const struct sections *sections);

#endif
