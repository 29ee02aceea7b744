/* SPDX-License-Identifier: MIT */
/*
 * plt_table.h -- what the stubs of a procedure linkage table jump to. Stubs
 * have no symbols, but each jumps through a word that a relocation fills in.
 */
#ifndef SYMBOL_PLT_TABLE_H
#define SYMBOL_PLT_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "elf_file.h"

struct plt_slot;

/* All zero is an empty table. */
struct plt_table {
    Elf *elf;
    struct plt_slot *slots; /* sorted by address */
    size_t count, capacity;
};

struct plt_target {
    const char *name;  /* of the function; NULL: RESOLVER says which */
    uint64_t resolver; /* address of the function that chooses it (IFUNC) */
};

/* Read the relocations of FILE. Returns 0, or -1 with errno set. */
int plt_table_read(struct plt_table *table, struct elf_file *file);

/* Where the stub at ADDRESS goes. Returns 0, or -1 if no stub is known there:
 * the section's common head, or another machine's code. */
int plt_table_find(const struct plt_table *table, uint64_t address,
                   struct plt_target *target);

void plt_table_free(struct plt_table *table);

#endif
