/* SPDX-License-Identifier: MIT */
/*
 * plt_table.h -- what the stubs of a procedure linkage table jump to. Stubs
 * have no symbols, but each jumps through a word that a relocation fills in.
 */
#ifndef SYMBOL_PLT_TABLE_H
#define SYMBOL_PLT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elf_view.h"

struct plt_slot;

/* All zero is the table of a file that was not asked for yet. */
struct plt_table {
    bool is_read;
    struct plt_slot *slots; /* sorted by address */
    size_t count, capacity;
};

struct plt_target {
    const char *name;  /* of the function; NULL: RESOLVER says which */
    uint64_t resolver; /* address of the function that chooses it (IFUNC) */
};

/*
 * Where the stub of FILE at ADDRESS goes. The relocations of FILE are read when
 * the first address in a PLT is asked for; FILE is the same each time, and the
 * name is in it. Returns 0, or -1 if no stub is known there: the section's
 * common head, another machine's code, or memory is short.
 */
int plt_table_find(struct plt_table *table, const struct elf_view *file,
                   uint64_t address, struct plt_target *target);

void plt_table_free(struct plt_table *table);

#endif
