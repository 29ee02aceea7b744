/* SPDX-License-Identifier: MIT */
/* address_table.c -- the values beside a table of keys. Report side. */
#include <stdlib.h>

#include "util/array.h"
#include "address_table.h"

struct key {
    uint64_t address, id;
};

void *
address_table_find(const struct address_table *table, uint32_t id,
                   uint64_t address)
{
    struct key key = {address, id};
    uint32_t number = intern_find(&table->keys, &key, sizeof(key));
    return number != INTERN_NONE ? table->values[number] : NULL;
}

void **
address_table_place(struct address_table *table, uint32_t id, uint64_t address)
{
    struct key key = {address, id};
    uint32_t count = intern_count(&table->keys);
    if (!ARRAY_GROW(table->values, count))
        return NULL;
    uint32_t number = intern_put(&table->keys, &key, sizeof(key));
    if (number == INTERN_NONE)
        return NULL;
    if (number == count)
        table->values[number] = NULL;
    return &table->values[number];
}

void
address_table_free(struct address_table *table)
{
    intern_clear(&table->keys);
    free(table->values);
    *table = (struct address_table){0};
}
