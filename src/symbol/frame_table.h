/* SPDX-License-Identifier: MIT */
/*
 * frame_table.h -- where functions without a name begin.
 *
 * .eh_frame has an entry for each function, and .eh_frame_hdr has the sorted
 * table of their beginnings (LSB 5.0, Core, section 10.6). Unwinders need both,
 * so strip(1) leaves them.
 */
#ifndef SYMBOL_FRAME_TABLE_H
#define SYMBOL_FRAME_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "bytes.h"
#include "elf_view.h"

/* All zero is an empty table. */
struct frame_table {
    struct bytes table, entries;          /* in the file */
    uint64_t table_base, entries_address; /* the file's own numbering */
    uint64_t count;
};

/* Find the table of FILE, which stays open as long as TABLE is used. TABLE is
 * empty if the file has no table or one of an unusual form. */
void frame_table_read(struct frame_table *table, const struct elf_view *file);

/* Put the beginning of the function that covers ADDRESS into *START. Both are
 * in the file's own numbering. Returns false if none is known, and leaves
 * *START alone. */
bool frame_table_find(const struct frame_table *table, uint64_t address,
                      uint64_t *start);

#endif
