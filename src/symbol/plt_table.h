/* SPDX-License-Identifier: MIT */
/*
 * plt_table.h -- the targets of the stubs in a procedure linkage table. Stubs
 * have no symbols, but each jumps through a word that a relocation fills in.
 * The order of stubs is not always that of the relocations: .plt.got, .plt.sec
 * and stubs for IFUNCs differ. So the stub is read, and the relocation for its
 * word has the name. Report side only.
 */
#ifndef SYMBOL_PLT_TABLE_H
#define SYMBOL_PLT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elf_view.h"

/* All zero is a table that was not read. */
struct plt_table {
    bool is_read;
    struct plt_slot *slots; /* sorted by address */
    size_t count;
};

/* The function that a stub jumps to. */
struct plt_target {
    const char *name;  /* NULL: RESOLVER chooses it */
    uint64_t resolver; /* address of the function that chooses it (IFUNC) */
};

/* Find the target of FILE's stub at ADDRESS. The relocations of FILE are read
 * at the first question for an address in a PLT. Returns 0, or -1 if no stub is
 * known there: it is the section's common head or another machine's code, or
 * memory is short. */
int plt_table_find(struct plt_table *table, const struct elf_view *file,
                   uint64_t address, struct plt_target *target);

void plt_table_free(struct plt_table *table);

#endif
