/* SPDX-License-Identifier: MIT */
/*
 * package_index.h -- where the sections of a unit lie in a package of split
 * debug information (package.h): .debug_cu_index, DWARF 5, section 7.3.5.3. The
 * form that GNU tools write for DWARF 4 has another version number and other
 * columns.
 */
#ifndef SYMBOL_PACKAGE_INDEX_H
#define SYMBOL_PACKAGE_INDEX_H

#include <stdbool.h>
#include <stdint.h>

#include "bytes.h"

/* The numbers of sections in the columns. Both forms have the same numbers,
 * except the last, which only DWARF 5 has. */
enum package_part {
    PACKAGE_INFO = 1,
    PACKAGE_ABBREV = 3,
    PACKAGE_TEXTS = 6, /* their offsets */
    PACKAGE_RANGES = 8
};

/* A hash table from ids to rows. Each row and column tells where that section
 * of the unit begins and how long it is. */
struct package_index {
    bool is_version_5;
    uint32_t columns, rows, slots;
    struct bytes ids, row_numbers, parts, offsets, sizes;
};

/* Find the tables in SECTION. False if it is damaged or of another form. */
bool package_index_read(struct package_index *index,
                        const struct bytes *section);

/* The row of the unit ID, counted from 1. 0 if the unit is not in the package.
 */
uint32_t package_index_row(const struct package_index *index, uint64_t id);

/* The bytes of the unit in ROW in SECTION, which is PART. AT is NULL if it has
 * none. */
struct bytes package_index_cut(const struct package_index *index, uint32_t row,
                               enum package_part part,
                               const struct bytes *section);

#endif
