/* SPDX-License-Identifier: MIT */
/*
 * address_table.h -- a hash table from (id, address) to a pointer. It holds the
 * answers, the modules and the demangled names. The caller owns the values.
 */
#ifndef SYMBOL_ADDRESS_TABLE_H
#define SYMBOL_ADDRESS_TABLE_H

#include <stdint.h>

#include "util/intern.h"

/* All zero is an empty table. */
struct address_table {
    struct intern keys;
    void **values; /* by the numbers of KEYS */
};

/* Returns the value under the key. NULL if the key has none. */
void *address_table_find(const struct address_table *table, uint32_t id,
                         uint64_t address);

/* Returns the place for the value under the key, with NULL in it if the key is
 * new. It is valid until the next call. NULL with errno set if memory is
 * short. */
void **address_table_place(struct address_table *table, uint32_t id,
                           uint64_t address);

void address_table_free(struct address_table *table);

#endif
