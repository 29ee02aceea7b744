/* SPDX-License-Identifier: MIT */
/*
 * sections.h -- where the sections of debug information lie that are read here
 * and not by libdw alone.
 */
#ifndef SYMBOL_SECTIONS_H
#define SYMBOL_SECTIONS_H

#include <elfutils/libdw.h>
#include <gelf.h>

#include "bytes.h"

#define SECTIONS_LARGE 4

/* What the file lacks is empty. */
struct sections {
    struct bytes info, line, line_str, str, ranges, rnglists;
    struct bytes large[SECTIONS_LARGE]; /* of these: see sections_rest */
    size_t large_count;
};

/* The section of ELF (or NULL) behind SECTION, NULL: the first one. What it is
 * goes to *HEADER and *NAME; those without a name are passed over. NULL if
 * there are no more. */
Elf_Scn *sections_next(Elf *elf, Elf_Scn *section, GElf_Shdr *header,
                       const char **name);

/* The section of ELF (or NULL) called NAME; AT is NULL if it has none, or it is
 * compressed. */
struct bytes sections_find(Elf *elf, const char *name);

/* Find them in the file of DWARF, which stays open as long as they are used. */
void sections_read(struct sections *sections, Dwarf *dwarf);

/* Give back the memory that what was read of large ones takes. It is read
 * again when needed. */
void sections_rest(const struct sections *sections);

#endif
