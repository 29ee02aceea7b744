/* SPDX-License-Identifier: MIT */
/*
 * answer_store.c -- chunks of memory, filled from the front. Each chunk is
 * twice as large as the one before it, up to 64 KiB. A larger piece gets a
 * chunk of its own. The set of strings holds pointers into the chunks and is
 * searched by open addressing. Report side.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "answer_store.h"

#define FIRST_CHUNK_SIZE ((size_t)1024)
#define LAST_CHUNK_SIZE ((size_t)64 * 1024)
#define FIRST_CAPACITY 64

struct answer_chunk {
    struct answer_chunk *next;
    size_t used, size; /* of BYTES */
    _Alignas(max_align_t) char bytes[];
};

struct answer_string {
    const char *text;
    size_t hash;
};

/* Add a chunk for a piece of SIZE bytes. Only the newest chunk is filled. The
 * rest of the one before is lost; it is smaller than the piece that did not
 * fit. */
static struct answer_chunk *
add_chunk(struct answer_store *store, size_t size)
{
    size_t usual =
        store->chunks != NULL ? 2 * store->chunks->size : FIRST_CHUNK_SIZE;
    if (usual > LAST_CHUNK_SIZE)
        usual = LAST_CHUNK_SIZE;
    if (size < usual)
        size = usual;
    struct answer_chunk *chunk;
    if (size > SIZE_MAX - sizeof(*chunk)) {
        errno = ENOMEM;
        return NULL;
    }
    chunk = malloc(sizeof(*chunk) + size);
    if (chunk == NULL)
        return NULL;
    chunk->used = 0;
    chunk->size = size;
    chunk->next = store->chunks;
    store->chunks = chunk;
    return chunk;
}

/* Returns SIZE bytes at a multiple of ALIGNMENT. NULL if memory is short. */
static void *
take_space(struct answer_store *store, size_t size, size_t alignment)
{
    struct answer_chunk *chunk = store->chunks;
    size_t start =
        chunk != NULL ? (chunk->used + alignment - 1) & ~(alignment - 1) : 0;
    if (chunk == NULL || start > chunk->size || chunk->size - start < size) {
        chunk = add_chunk(store, size);
        if (chunk == NULL)
            return NULL;
        start = 0;
    }
    chunk->used = start + size;
    return chunk->bytes + start;
}

/* The hash of STRING. Names of templates have hundreds of bytes, so eight are
 * taken at a time. The set keeps each hash and reads no string again when it
 * grows. */
static size_t
hash_string(const char *string, size_t length)
{
    uint64_t value = length, part;
    for (; length >= sizeof(part); length -= sizeof(part)) {
        memcpy(&part, string, sizeof(part));
        value = (value ^ part) * 0x9e3779b97f4a7c15u;
        value ^= value >> 32;
        string += sizeof(part);
    }
    part = 0;
    memcpy(&part, string, length);
    value = (value ^ part) * 0x9e3779b97f4a7c15u;
    return (size_t)(value ^ value >> 32);
}

/* The place in STRINGS that holds STRING, or the free one where it belongs. */
static struct answer_string *
probe(struct answer_string *strings, size_t capacity, const char *string,
      size_t hashed)
{
    size_t i = hashed & (capacity - 1);
    while (strings[i].text != NULL &&
           (strings[i].hash != hashed || strcmp(strings[i].text, string) != 0))
        i = (i + 1) & (capacity - 1);
    return &strings[i];
}

/* Double the set of strings. Its capacity is a power of two, so that a mask
 * replaces the division. Returns 0, or -1 with errno set. */
static int
grow_strings(struct answer_store *store)
{
    size_t capacity = store->string_capacity != 0 ? store->string_capacity * 2
                                                  : FIRST_CAPACITY;
    struct answer_string *strings = calloc(capacity, sizeof(*strings));
    if (strings == NULL)
        return -1;
    for (size_t i = 0; i < store->string_capacity; i++) {
        const struct answer_string *old = &store->strings[i];
        if (old->text != NULL)
            *probe(strings, capacity, old->text, old->hash) = *old;
    }
    free(store->strings);
    store->strings = strings;
    store->string_capacity = capacity;
    return 0;
}

void *
answer_store_space(struct answer_store *store, size_t size)
{
    void *space = take_space(store, size, _Alignof(max_align_t));
    return space != NULL ? memset(space, 0, size) : NULL;
}

/* At most three quarters of the places are taken. So a probe is short and ends
 * at a free place. */
const char *
answer_store_string(struct answer_store *store, const char *string)
{
    size_t length = strlen(string), hashed = hash_string(string, length);
    if ((store->count + 1) * 4 > store->string_capacity * 3 &&
        grow_strings(store) != 0)
        return NULL;
    struct answer_string *place =
        probe(store->strings, store->string_capacity, string, hashed);
    if (place->text != NULL)
        return place->text;

    char *copy = take_space(store, length + 1, 1);
    if (copy == NULL)
        return NULL;
    memcpy(copy, string, length + 1);
    *place = (struct answer_string){copy, hashed};
    store->count++;
    return copy;
}

void
answer_store_free(struct answer_store *store)
{
    for (struct answer_chunk *chunk = store->chunks, *next; chunk != NULL;
         chunk = next) {
        next = chunk->next;
        free(chunk);
    }
    free(store->strings);
    *store = (struct answer_store){0};
}
