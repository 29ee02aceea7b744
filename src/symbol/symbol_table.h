/* SPDX-License-Identifier: MIT */
/*
 * symbol_table.h -- the code symbols of one file, sorted by address. They come
 * from .symtab, .dynsym or .gnu_debugdata of the file or of its debug file.
 */
#ifndef SYMBOL_SYMBOL_TABLE_H
#define SYMBOL_SYMBOL_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "elf_file.h"
#include "range_index.h"

/* All zero is an empty table. */
struct symbol_table {
    struct range_index ranges; /* values: indexes in NAMES */
    const char **names;        /* the strings belong to the file */
    size_t count;
};

/* Read the symbols of FILE. Returns 0, or -1 with errno set if memory is short.
 * A damaged or missing table is read as an empty one. */
int symbol_table_read(struct symbol_table *table, struct elf_file *file);

/* Add SYMBOL, which is called NAME and begins at ADDRESS in a code section that
 * ends at END (0: the section holds no code). Both addresses are in the file's
 * own numbering. A symbol that names no code is left out. Returns 0, or -1 with
 * errno set if memory is short. After the last symbol the caller seals RANGES.
 */
int symbol_table_add(struct symbol_table *table, const GElf_Sym *symbol,
                     const char *name, uint64_t address, uint64_t end);

/* Whether a SYMBOL called NAME may name code, by its type and its name. Its
 * section is not checked. */
bool symbol_table_is_code(const GElf_Sym *symbol, const char *name);

/* The name of the symbol that covers ADDRESS, as it stands in the table (with
 * "@VERSION" if it has one). NULL if no symbol covers it. *START becomes its
 * beginning if it has no size and may not reach so far; else ADDRESS. */
const char *symbol_table_find(const struct symbol_table *table,
                              uint64_t address, uint64_t *start);

void symbol_table_free(struct symbol_table *table);

#endif
