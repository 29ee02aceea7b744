/* SPDX-License-Identifier: MIT */
/*
 * address_table.c -- open addressing with linear probing, at most three
 * quarters full. Report side. Entries are never removed, so a probe ends at the
 * first free place.
 */
#include <stdlib.h>

#include "address_table.h"

#define FIRST_CAPACITY 32

static size_t
place_of(uint32_t id, uint64_t address)
{
    uint64_t mix = (address ^ (uint64_t)id << 40) * 0x9e3779b97f4a7c15u;
    /* The high bits are the well mixed ones, but a mask takes the low bits. */
    return (size_t)(mix ^ mix >> 29);
}

/* The entry with this key, or the free place where it belongs. */
static struct address_entry *
probe(const struct address_table *table, uint32_t id, uint64_t address)
{
    size_t mask = table->capacity - 1;
    size_t i = place_of(id, address) & mask;
    while (table->entries[i].value != NULL &&
           (table->entries[i].address != address || table->entries[i].id != id))
        i = (i + 1) & mask;
    return &table->entries[i];
}

static int
grow(struct address_table *table)
{
    size_t capacity =
        table->capacity != 0 ? table->capacity * 2 : FIRST_CAPACITY;
    struct address_table larger = {.capacity = capacity};
    larger.entries = calloc(capacity, sizeof(*larger.entries));
    if (larger.entries == NULL)
        return -1;
    for (size_t i = 0; i < table->capacity; i++) {
        const struct address_entry *old = &table->entries[i];
        if (old->value != NULL)
            *probe(&larger, old->id, old->address) = *old;
    }
    larger.count = table->count;
    free(table->entries);
    *table = larger;
    return 0;
}

void *
address_table_find(const struct address_table *table, uint32_t id,
                   uint64_t address)
{
    if (table->capacity == 0)
        return NULL;
    return probe(table, id, address)->value;
}

int
address_table_put(struct address_table *table, uint32_t id, uint64_t address,
                  void *value)
{
    struct address_entry entry = {address, value, id};
    if ((table->count + 1) * 4 > table->capacity * 3 && grow(table) != 0)
        return -1;
    *probe(table, id, address) = entry;
    table->count++;
    return 0;
}

void
address_table_free(struct address_table *table)
{
    free(table->entries);
    *table = (struct address_table){0};
}
