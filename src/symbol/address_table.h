/* SPDX-License-Identifier: MIT */
/*
 * address_table.h -- a hash table from (id, address) to a pointer. It holds the
 * answers, the modules and the demangled names. The caller owns the values.
 */
#ifndef SYMBOL_ADDRESS_TABLE_H
#define SYMBOL_ADDRESS_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct address_entry {
    uint64_t address;
    void *value; /* NULL: a free place */
    uint32_t id;
};

/* All zero is an empty table. */
struct address_table {
    struct address_entry *entries;
    size_t count, capacity; /* the capacity is a power of two, or 0 */
};

/* Returns the value under the key. NULL if there is none. */
void *address_table_find(const struct address_table *table, uint32_t id,
                         uint64_t address);

/* Put VALUE (not NULL) under a key that must be new. Returns 0, or -1 with
 * errno set if memory is short. */
int address_table_put(struct address_table *table, uint32_t id,
                      uint64_t address, void *value);

void address_table_free(struct address_table *table);

#endif
