/* SPDX-License-Identifier: MIT */
/*
 * frame_table.h -- where functions begin that have no names: .eh_frame, which
 * unwinders need and strip(1) therefore leaves, has an entry for each function,
 * and .eh_frame_hdr the sorted table of their beginnings (LSB 5.0, Core,
 * section 10.6).
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

/* Find the table of FILE, which stays open as long as TABLE is used. Where it
 * has none, or one of an unusual form, TABLE is empty. */
void frame_table_read(struct frame_table *table, const struct elf_view *file);

/* The beginning of the function that ADDRESS is in, in *START; both in the
 * file's own numbering. False if none is known; *START is then as before. */
bool frame_table_find(const struct frame_table *table, uint64_t address,
                      uint64_t *start);

#endif
