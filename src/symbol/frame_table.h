/* SPDX-License-Identifier: MIT */
/*
 * frame_table.h -- where the functions of a file begin and end, also those
 * without a name. .eh_frame has an entry for each function, and .eh_frame_hdr
 * has the sorted table of their beginnings (LSB 5.0, Core, section 10.6).
 * Unwinders need both, so strip(1) leaves them.
 *
 * The table is searched in place. Of the entry it leads to, only the length of
 * the code is read, because code without an entry may follow. All of it may be
 * damaged: an address that does not fit belongs to no function. Report side
 * only.
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

/* Find the table of FILE. It is empty if the file has no table or one of an
 * unusual form. It is valid until elf_view_close. */
void frame_table_read(struct frame_table *table, const struct elf_view *file);

/* Put into *START where the function that covers ADDRESS begins, and into *END
 * where it ends. All are in the file's own numbering. Returns false if none is
 * known, and leaves both alone. */
bool frame_table_find(const struct frame_table *table, uint64_t address,
                      uint64_t *start, uint64_t *end);

#endif
