/* SPDX-License-Identifier: MIT */
/* unit_index.h -- from an address to its compilation unit. */
#ifndef SYMBOL_UNIT_INDEX_H
#define SYMBOL_UNIT_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elf_file.h"
#include "range_index.h"
#include "unit.h"

/* All zero is an empty index. */
struct unit_index {
    uint64_t bias;             /* from the file's addresses to the DWARF's */
    struct range_index ranges; /* values: indexes in UNITS */
    struct unit *units;        /* in the order of their offsets */
    size_t count;
    bool has_lines; /* some unit has a line table */
    struct unit_file file;
    size_t kept, seen; /* sums over the units */
};

/* Index the units of FILE. Returns 0, or -1 with errno set if memory is short.
 * Without DWARF the index is empty; with damaged DWARF it is smaller. */
int unit_index_read(struct unit_index *index, struct elf_file *file);

/* Like unit_find, but ADDRESS is in the file's own numbering. */
unsigned unit_index_find(struct unit_index *index, uint64_t address,
                         struct unit_frame *frames, unsigned limit);

void unit_index_free(struct unit_index *index);

#endif
