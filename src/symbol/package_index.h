/* SPDX-License-Identifier: MIT */
/*
 * package_index.h -- where in a package of split debug information (package.h)
 * the sections of a unit lie: .debug_cu_index, DWARF 5, section 7.3.5.3. The
 * form that GNU tools write for DWARF 4 has another number and other columns.
 */
#ifndef SYMBOL_PACKAGE_INDEX_H
#define SYMBOL_PACKAGE_INDEX_H

#include <stdbool.h>
#include <stdint.h>

#include "bytes.h"

/* Sections in the columns; the same in both forms, but for the last one, which
 * only DWARF 5 has. */
enum package_part {
    PACKAGE_INFO = 1,
    PACKAGE_ABBREV = 3,
    PACKAGE_TEXTS = 6, /* their offsets */
    PACKAGE_RANGES = 8
};

/* A hash table from ids to rows; and for each row and column where that section
 * of the unit begins, and how long it is. */
struct package_index {
    bool is_version_5;
    uint32_t columns, rows, slots;
    struct bytes ids, row_numbers, parts, offsets, sizes;
};

/* Find the tables in SECTION. False if it is damaged, or of another form. */
bool package_index_read(struct package_index *index,
                        const struct bytes *section);

/* The row of the unit ID, counted from 1; 0: it is not here. */
uint32_t package_index_row(const struct package_index *index, uint64_t id);

/* What the unit in ROW has of SECTION, which is PART; AT is NULL if nothing. */
struct bytes package_index_cut(const struct package_index *index, uint32_t row,
                               enum package_part part,
                               const struct bytes *section);

#endif
