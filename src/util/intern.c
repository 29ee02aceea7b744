/* SPDX-License-Identifier: MIT */
/*
 * intern.c -- an open-addressing hash table from bytes to numbers. Each slot
 * keeps the hash. So a lookup reads about one entry and its bytes, and growing
 * reads none: in a large table, each of them is a cache miss. The bytes lie in
 * large blocks that never move, so their addresses are stable.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
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
struct intern_block {
    struct intern_block *next;
    size_t used, size;
    uint64_t bytes[];
};

struct intern_slot {
    uint32_t hash;
    uint32_t next; /* the number + 1; 0: the slot is empty */
};

struct intern_entry {
    const char *bytes;
    uint32_t length;
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

struct intern *
intern_new(void)
{
    return calloc(1, sizeof(struct intern));
}

/* Double the slots. Returns 0, or -1 with errno set. */
static int
grow_slots(struct intern *intern)
{
    size_t old = intern->slots == NULL ? 0 : (size_t)intern->mask + 1;
    size_t size = old == 0 ? FIRST_SLOTS : 2 * old;
    struct intern_slot *slots;
    if (size > UINT32_MAX || (slots = calloc(size, sizeof(*slots))) == NULL) {
        errno = ENOMEM;
        return -1;
    }
    for (size_t i = 0; i < old; i++) {
        struct intern_slot slot = intern->slots[i];
        size_t at = slot.hash & (size - 1);
        while (slot.next != 0 && slots[at].next != 0)
            at = (at + 1) & (size - 1);
        if (slot.next != 0)
            slots[at] = slot;
    }
    free(intern->slots);
    intern->slots = slots;
    intern->mask = (uint32_t)(size - 1);
    return 0;
}

/* Take NEED bytes, a multiple of 8. Only the newest block is filled: the rest
 * of the one before is smaller than the piece that did not fit. NULL if memory
 * is short. */
static char *
reserve_bytes(struct intern *intern, size_t need)
{
    struct intern_block *block = intern->blocks;
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

void *
intern_space(struct intern *intern, size_t size)
{
    if (size > SIZE_MAX / 2) {
        errno = ENOMEM;
        return NULL;
    }
    void *space = reserve_bytes(intern, (size + 7) / 8 * 8);
    return space != NULL ? memset(space, 0, size) : NULL;
}

/* The slot of the bytes, or the empty slot where they belong. The table has
 * slots. */
static struct intern_slot *
slot_of(const struct intern *intern, uint32_t hash, const void *bytes,
        size_t length)
{
    uint32_t at = hash & intern->mask;
    while (intern->slots[at].next != 0) {
        if (intern->slots[at].hash == hash) {
            const struct intern_entry *entry =
                &intern->entries[intern->slots[at].next - 1];
            if (entry->length == length &&
                memcmp(entry->bytes, bytes, length) == 0)
                break;
        }
        at = (at + 1) & intern->mask;
    }
    return &intern->slots[at];
}

/* The number of the bytes, INTERN_NONE if they have none. An empty slot holds
 * 0, which is INTERN_NONE + 1. */
static uint32_t
find_entry(const struct intern *intern, uint32_t hash, const void *bytes,
           size_t length)
{
    if (intern->slots == NULL)
        return INTERN_NONE;
    return slot_of(intern, hash, bytes, length)->next - 1;
}

/* Give LENGTH bytes the next number. Every step that can fail comes before the
 * entry is visible. */
static uint32_t
add_entry(struct intern *intern, uint32_t hash, const void *bytes,
          size_t length)
{
    if (!ARRAY_GROW(intern->entries, intern->count))
        return INTERN_NONE;
    if (intern->count >= intern->mask / 4 * 3 && grow_slots(intern) < 0)
        return INTERN_NONE;
    char *copy = reserve_bytes(intern, (length / 8 + 1) * 8);
    if (copy == NULL)
        return INTERN_NONE;
    if (length > 0)
        memcpy(copy, bytes, length);
    copy[length] = '\0';
    intern->entries[intern->count] =
        (struct intern_entry){copy, (uint32_t)length};
    *slot_of(intern, hash, bytes, length) =
        (struct intern_slot){hash, intern->count + 1};
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
    uint32_t number = find_entry(intern, hash, bytes, length);
    return number != INTERN_NONE ? number
                                 : add_entry(intern, hash, bytes, length);
}

uint32_t
intern_string(struct intern *intern, const char *string)
{
    return intern_put(intern, string, strlen(string));
}

uint32_t
intern_find(const struct intern *intern, const void *bytes, size_t length)
{
    return find_entry(intern, hash_bytes(bytes, length), bytes, length);
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

const char *
intern_text(struct intern *intern, const char *string)
{
    uint32_t number = intern_string(intern, string);
    return number != INTERN_NONE ? intern->entries[number].bytes : NULL;
}

const char *
intern_format(struct intern *intern, const char *format, ...)
{
    char *text;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (length < 0)
        return NULL;
    const char *kept = intern_text(intern, text);
    free(text);
    return kept;
}

void
intern_clear(struct intern *intern)
{
    while (intern->blocks != NULL) {
        struct intern_block *next = intern->blocks->next;
        free(intern->blocks);
        intern->blocks = next;
    }
    free(intern->entries);
    free(intern->slots);
    *intern = (struct intern){0};
}

void
intern_free(struct intern *intern)
{
    if (intern != NULL)
        intern_clear(intern);
    free(intern);
}
