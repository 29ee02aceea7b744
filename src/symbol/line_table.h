/* SPDX-License-Identifier: MIT */
/*
 * line_table.h -- the line table of one unit: from an address to a file and a
 * line. The table keeps marks, not rows. Each question decodes the rows after
 * the nearest mark again. So a table takes a sixth of its program's size.
 */
#ifndef SYMBOL_LINE_TABLE_H
#define SYMBOL_LINE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/intern.h"
#include "range_index.h"
#include "sections.h"

struct line_file;
struct line_mark;

/* All zero is an empty table. */
struct line_table {
    struct bytes program;
    uint8_t shortest; /* instruction's size: the unit of address advances */
    uint8_t line_range, opcode_base;
    int8_t line_base;
    uint32_t inverse; /* 1 / LINE_RANGE, with 16 bits after the point */
    uint16_t version;
    const uint8_t *lengths; /* operand counts of opcodes 1 and up */
    const char **directories;
    struct line_file *files;
    size_t directory_count, file_count;
    struct line_mark *marks; /* the marks of a sequence lie together */
    size_t mark_count;
    struct range_index sequences; /* values: their first marks */
};

/* A row of a table. */
struct line_row {
    uint64_t address;
    uint32_t file, line;
};

/* Read the table at OFFSET of SECTIONS' line section. Returns 0, or -1 with
 * errno set if memory is short. A damaged table is read up to the damage. */
int line_table_read(struct line_table *table, const struct sections *sections,
                    uint64_t offset);

/* Put the row for ADDRESS into *ROW: the last row of its sequence that starts
 * at or before ADDRESS. Returns false if no row is. */
bool line_table_find(const struct line_table *table, uint64_t address,
                     struct line_row *row);

/* The path of file NUMBER as in the table. A path that is not absolute is
 * relative to the unit's directory COMPILED_IN (may be NULL). The string is
 * kept in STORE. NULL if the table lacks the file or memory is short. */
const char *line_table_file(struct line_table *table, uint64_t number,
                            const char *compiled_in, struct intern *store);

/* About how much memory the table takes, in bytes. */
size_t line_table_size(const struct line_table *table);

void line_table_free(struct line_table *table);

#endif
