/* SPDX-License-Identifier: MIT */
/*
 * line_table.h -- the line table of one unit: from an address to a file and a
 * line. A row is decoded again each time it is asked for, from the nearest of
 * some marks, so that a table takes a sixth of its program's size.
 */
#ifndef SYMBOL_LINE_TABLE_H
#define SYMBOL_LINE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "answer_store.h"
#include "range_index.h"
#include "sections.h"

struct line_file;
struct line_mark;

/* All zero is an empty table. */
struct line_table {
    struct bytes program;
    uint8_t shortest; /* instruction: the unit of address advances */
    uint8_t line_range, opcode_base;
    int8_t line_base;
    uint32_t inverse; /* of LINE_RANGE, with 16 bits behind the point */
    uint16_t version;
    const uint8_t *lengths; /* of the standard opcodes, from 1 */
    const char **directories;
    struct line_file *files;
    size_t directory_count, file_count;
    struct line_mark *marks; /* those of a sequence lie together */
    size_t mark_count, mark_capacity;
    struct range_index sequences; /* values: the first of their marks */
};

/* A row of a table. */
struct line_row {
    uint64_t address;
    uint32_t file, line;
};

/* Read the table at OFFSET of SECTIONS' line section. Returns 0, or -1 with
 * errno set if memory is short; a damaged table is a shorter one. */
int line_table_read(struct line_table *table, const struct sections *sections,
                    uint64_t offset);

/* The row that ADDRESS belongs to: the last one of its sequence that starts
 * at or before it. False if there is none. */
bool line_table_find(const struct line_table *table, uint64_t address,
                     struct line_row *row);

/* The path of file NUMBER, as in the table: relative to the unit's directory
 * COMPILED_IN (may be NULL) if it is not absolute. Kept in STORE. NULL if there
 * is no such file. */
const char *line_table_file(struct line_table *table, uint64_t number,
                            const char *compiled_in,
                            struct answer_store *store);

/* How much memory the table takes, about. */
size_t line_table_size(const struct line_table *table);

void line_table_free(struct line_table *table);

#endif
