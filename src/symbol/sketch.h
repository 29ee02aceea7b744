/* SPDX-License-Identifier: MIT */
/*
 * sketch.h -- a file's symbol table, and an estimate of the time to read all
 * its debug information. A profile of a few milliseconds has few addresses in
 * the C library, whose debug file takes 20 ms to inflate (docs/names.md).
 * Report side only.
 */
#ifndef SYMBOL_SKETCH_H
#define SYMBOL_SKETCH_H

#include <stdbool.h>

#include "elf_view.h"
#include "symbol_table.h"
#include "symbolizer.h"

/* All zero is no sketch. */
struct sketch {
    struct elf_view file, debug; /* DEBUG: its separate debug file, if any */
    bool is_all;                 /* no debug information exists besides it */
    /* These are of FILE or DEBUG, whichever has the symbols. */
    struct elf_view_symbols symbols;
    const Elf64_Shdr *sections;
    size_t section_count;
};

/* Open the file at PATH with BUILD_ID of LENGTH bytes (0: any). Returns 0, or
 * -1 if only libdwfl can find its symbols. */
int sketch_open(struct sketch *sketch, const char *path,
                const uint8_t *build_id, size_t length);

/* Estimate the time in ns that libdwfl takes to read its symbols and debug
 * information. */
uint64_t sketch_cost(const struct sketch *sketch);

/*
 * Add to the empty TABLE the symbols that symbol_table_find needs for the
 * offsets of COUNT sorted QUESTIONS. Its answers for them are then the same as
 * with all symbols. The names belong to SKETCH. Returns 0, or -1 with errno set
 * if memory is short.
 */
int sketch_read(const struct sketch *sketch,
                const struct symbol_question *questions, size_t count,
                struct symbol_table *table);

void sketch_close(struct sketch *sketch);

#endif
