/* SPDX-License-Identifier: MIT */
/*
 * intern.c -- an open-addressing hash table from bytes to numbers. Each entry
 * keeps its hash. So a lookup compares bytes about once, and growing compares
 * none. The bytes lie in large blocks that never move, so their addresses are
 * stable.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "intern.h"

enum {
    FIRST_SLOTS = 64,
    FIRST_BLOCK_SIZE = 512,
    LAST_BLOCK_SIZE = 64 * 1024,
};

/* Memory for bytes, newest block first. */
struct block {
    struct block *next;
    size_t used, size;
    uint64_t bytes[];
};

struct entry {
    uint32_t hash, length;
    const char *bytes;
};

struct intern {
    struct entry *entries; /* by number */
    uint32_t count;
    uint32_t mask;   /* slots - 1, a power of two less one */
    uint32_t *slots; /* number + 1, 0 for empty; at most half are in use */
    struct block *blocks;
};

/* Mix eight bytes a step. Each multiplication spreads low bits upwards, and
 * each shift brings them back down. */
static uint32_t
hash_bytes(const char *bytes, size_t length)
{
    uint64_t hash = 0x9e3779b97f4a7c15u ^ length;
    uint64_t word;
    for (; length >= sizeof(word); length -= sizeof(word)) {
        memcpy(&word, bytes, sizeof(word));
        hash = (hash ^ word) * 0xd6e8feb86659fd93u;
        hash ^= hash >> 32;
        bytes += sizeof(word);
    }
    word = 0;
    if (length > 0)
        memcpy(&word, bytes, length);
    hash = (hash ^ word) * 0xd6e8feb86659fd93u;
    return (uint32_t)(hash >> 32);
}

/* The slots must exist from the start, because every lookup reads them. */
struct intern *
intern_new(void)
{
    struct intern *intern = calloc(1, sizeof(*intern));
    if (intern == NULL)
        goto err0;
    intern->slots = calloc(FIRST_SLOTS, sizeof(*intern->slots));
    if (intern->slots == NULL)
        goto err1;
    intern->mask = FIRST_SLOTS - 1;
    return intern;

err1:
    free(intern);
err0:
    return NULL;
}

/* Double the slots. The entries keep their hashes, so no bytes are read.
 * Returns 0, or -1 with errno set. */
static int
grow_slots(struct intern *intern)
{
    size_t size = 2 * ((size_t)intern->mask + 1);
    uint32_t *slots;
    if (size > UINT32_MAX || (slots = calloc(size, sizeof(*slots))) == NULL) {
        errno = ENOMEM;
        return -1;
    }
    free(intern->slots);
    intern->slots = slots;
    intern->mask = (uint32_t)(size - 1);
    for (uint32_t i = 0; i < intern->count; i++) {
        uint32_t at = intern->entries[i].hash & intern->mask;
        while (slots[at] != 0)
            at = (at + 1) & intern->mask;
        slots[at] = i + 1;
    }
    return 0;
}

/* Take room for LENGTH bytes and a NUL, rounded up so that the next piece is
 * aligned. NULL if memory is short. */
static char *
reserve_bytes(struct intern *intern, size_t length)
{
    struct block *block = intern->blocks;
    size_t need = (length / 8 + 1) * 8;
    if (block == NULL || block->size - block->used < need) {
        size_t size = block == NULL ? FIRST_BLOCK_SIZE : 2 * block->size;
        if (size > LAST_BLOCK_SIZE)
            size = LAST_BLOCK_SIZE;
        if (size < need)
            size = need;
        block = malloc(sizeof(*block) + size);
        if (block == NULL)
            return NULL;
        block->next = intern->blocks;
        block->used = 0;
        block->size = size;
        intern->blocks = block;
    }
    char *bytes = (char *)block->bytes + block->used;
    block->used += need;
    return bytes;
}

/* The slot of the bytes, or the empty slot where they belong. */
static uint32_t
slot_of(const struct intern *intern, uint32_t hash, const void *bytes,
        size_t length)
{
    uint32_t at = hash & intern->mask;
    while (intern->slots[at] != 0) {
        const struct entry *entry = &intern->entries[intern->slots[at] - 1];
        if (entry->hash == hash && entry->length == length &&
            memcmp(entry->bytes, bytes, length) == 0)
            break;
        at = (at + 1) & intern->mask;
    }
    return at;
}

/* Give LENGTH bytes the next number. Every step that can fail comes before the
 * entry is visible. */
static uint32_t
add_entry(struct intern *intern, uint32_t hash, const void *bytes,
          size_t length)
{
    struct entry *entries =
        array_room(intern->entries, intern->count, sizeof(*entries));
    if (entries == NULL)
        return INTERN_NONE;
    intern->entries = entries;
    if (intern->count >= intern->mask / 2 && grow_slots(intern) < 0)
        return INTERN_NONE;
    char *copy = reserve_bytes(intern, length);
    if (copy == NULL)
        return INTERN_NONE;
    if (length > 0)
        memcpy(copy, bytes, length);
    copy[length] = '\0';
    entries[intern->count] = (struct entry){hash, (uint32_t)length, copy};
    intern->slots[slot_of(intern, hash, bytes, length)] = intern->count + 1;
    return intern->count++;
}

/* An entry has 32 bits for its length. Longer bytes are refused as if memory
 * were short. */
uint32_t
intern_put(struct intern *intern, const void *bytes, size_t length)
{
    uint32_t hash = hash_bytes(bytes, length);
    if (length > UINT32_MAX / 2) {
        errno = ENOMEM;
        return INTERN_NONE;
    }
    uint32_t found = intern->slots[slot_of(intern, hash, bytes, length)];
    return found != 0 ? found - 1 : add_entry(intern, hash, bytes, length);
}

uint32_t
intern_string(struct intern *intern, const char *string)
{
    return intern_put(intern, string, strlen(string));
}

uint32_t
intern_find(const struct intern *intern, const void *bytes, size_t length)
{
    uint32_t hash = hash_bytes(bytes, length);
    uint32_t found = intern->slots[slot_of(intern, hash, bytes, length)];
    return found != 0 ? found - 1 : INTERN_NONE;
}

uint32_t
intern_count(const struct intern *intern)
{
    return intern->count;
}

const void *
intern_bytes(const struct intern *intern, uint32_t number)
{
    return intern->entries[number].bytes;
}

void
intern_free(struct intern *intern)
{
    if (intern == NULL)
        return;
    while (intern->blocks != NULL) {
        struct block *next = intern->blocks->next;
        free(intern->blocks);
        intern->blocks = next;
    }
    free(intern->entries);
    free(intern->slots);
    free(intern);
}
