/* SPDX-License-Identifier: MIT */
/*
 * answer_store.c -- chunks of 64 KiB, filled from the front; a piece that is
 * larger has a chunk of its own. The set of strings holds pointers into the
 * chunks and is searched by open addressing. Report side.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "answer_store.h"

#define CHUNK_SIZE ((size_t)64 * 1024)
#define FIRST_CAPACITY 1024

struct answer_chunk {
    struct answer_chunk *next;
    size_t used, size; /* of BYTES */
    _Alignas(max_align_t) char bytes[];
};

static struct answer_chunk *
add_chunk(struct answer_store *store, size_t size)
{
    struct answer_chunk *chunk;

    if (size < CHUNK_SIZE)
        size = CHUNK_SIZE;
    if (size > SIZE_MAX - sizeof(*chunk)) {
        errno = ENOMEM;
        return (NULL);
    }
    chunk = calloc(1, sizeof(*chunk) + size);
    if (!chunk)
        return (NULL);
    chunk->size = size;
    chunk->next = store->chunks;
    store->chunks = chunk;
    return (chunk);
}

/* SIZE bytes at a multiple of ALIGNMENT. */
static void *
take(struct answer_store *store, size_t size, size_t alignment)
{
    struct answer_chunk *chunk = store->chunks;
    size_t start = chunk ? (chunk->used + alignment - 1) & ~(alignment - 1) : 0;

    if (!chunk || start > chunk->size || chunk->size - start < size) {
        chunk = add_chunk(store, size);
        if (!chunk)
            return (NULL);
        start = 0;
    }
    chunk->used = start + size;
    return (chunk->bytes + start);
}

/* FNV-1a. */
static size_t
hash(const char *string)
{
    uint64_t value = 0xcbf29ce484222325u;

    for (; *string; string++)
        value = (value ^ (unsigned char)*string) * 0x100000001b3u;
    return ((size_t)(value ^ value >> 32));
}

/* The place in STRINGS that holds STRING, or the free one where it belongs. */
static const char **
probe(const char **strings, size_t capacity, const char *string)
{
    size_t i = hash(string) & (capacity - 1);

    while (strings[i] && strcmp(strings[i], string) != 0)
        i = (i + 1) & (capacity - 1);
    return (&strings[i]);
}

static int
grow(struct answer_store *store)
{
    size_t capacity =
        store->string_capacity ? store->string_capacity * 2 : FIRST_CAPACITY;
    const char **strings = calloc(capacity, sizeof(*strings));

    if (!strings)
        return (-1);
    for (size_t i = 0; i < store->string_capacity; i++) {
        if (store->strings[i])
            *probe(strings, capacity, store->strings[i]) = store->strings[i];
    }
    free(store->strings);
    store->strings = strings;
    store->string_capacity = capacity;
    return (0);
}

void *
answer_store_space(struct answer_store *store, size_t size)
{
    return (take(store, size, _Alignof(max_align_t)));
}

const char *
answer_store_string(struct answer_store *store, const char *string)
{
    const char **place;
    size_t size;
    char *copy;

    if ((store->count + 1) * 4 > store->string_capacity * 3 && grow(store))
        return (NULL);
    place = probe(store->strings, store->string_capacity, string);
    if (*place)
        return (*place);

    size = strlen(string) + 1;
    copy = take(store, size, 1);
    if (!copy)
        return (NULL);
    memcpy(copy, string, size);
    *place = copy;
    store->count++;
    return (copy);
}

void
answer_store_free(struct answer_store *store)
{
    struct answer_chunk *chunk, *next;

    for (chunk = store->chunks; chunk; chunk = next) {
        next = chunk->next;
        free(chunk);
    }
    free(store->strings);
    *store = (struct answer_store){0};
}
