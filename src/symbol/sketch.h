/* SPDX-License-Identifier: MIT */
/*
 * sketch.h -- a file's symbol table, and what it would take to read all that
 * there is about its code. A profile of a few milliseconds has a few addresses
 * in the C library, whose debug file takes 20 ms to inflate (docs/names.md).
 * Report side only.
 */
#ifndef SYMBOL_SKETCH_H
#define SYMBOL_SKETCH_H

#include <stdbool.h>

#include "elf_view.h"
#include "symbol_table.h"

/* All zero is none. */
struct sketch {
    struct elf_view file, debug; /* DEBUG: its separate debug file, if any */
    bool is_all; /* there is no debug information to be read besides */
    /* Of the one of them that has the symbols. */
    const Elf64_Sym *symbols;
    size_t count;
    struct bytes strings;
    const Elf64_Shdr *sections;
    size_t section_count;
};

/* Look at the file at PATH with BUILD_ID of LENGTH bytes (0: any). Returns 0,
 * or -1 if its symbols must be found in another way: by libdwfl. */
int sketch_open(struct sketch *sketch, const char *path,
                const uint8_t *build_id, size_t length);

/* An estimate, in ns, of what reading its symbols and debug information by
 * libdwfl takes. */
uint64_t sketch_cost(const struct sketch *sketch);

/*
 * Add to the empty TABLE what symbol_table_find needs to answer for COUNT
 * ADDRESSES, which are sorted, as if all symbols were in it. The names are
 * SKETCH's. Returns 0, or -1 with errno set if memory is short.
 */
int sketch_read(const struct sketch *sketch, const uint64_t *addresses,
                size_t count, struct symbol_table *table);

void sketch_close(struct sketch *sketch);

#endif
