/* SPDX-License-Identifier: MIT */
/*
 * python_dict.c -- see python_dict.h. A dictionary has a table of indices, and
 * after that the entries. Only those are read here. Instances of classes have
 * dictionaries of another kind, which are not read.
 */
#include <string.h>

#include "base/sys.h"
#include "python_text.h"
#include "python_dict.h"
#include "base/poison.h"

/* Words of a dict: its type, how many entries are used, and the memory of the
 * entries. They are at the same places in all versions from 3.9 to 3.13. */
#define DICT_WORDS 5u
#define DICT_TYPE 1u
#define DICT_USED 2u
#define DICT_KEYS 4u

/* The head of the entries' memory. Up to 3.10: its size in indices. From 3.11
 * on: the binary logarithm of the bytes of the indices, and the kind of the
 * entries. */
#define KEYS_WORDS 5u
#define KEYS_SIZE 1u
#define KEYS_COUNT_10 4u
#define KEYS_COUNT 3u
#define KEYS_INDICES_10 40u
#define KEYS_INDICES 32u
#define KEYS_LOG(word) ((word) >> 8 & 0xff)
#define KEYS_KIND(word) ((word) >> 16 & 0xff)
#define KIND_GENERAL 0u
#define KIND_TEXTS 1u

/* Bytes of an entry: hash, key and value, or the last two alone. */
#define ENTRY_SIZE 24u
#define ENTRY_TEXTS_SIZE 16u

/* Limit of the entries that are believed to be there. */
#define COUNT_MOST (1u << 24)

/* Bytes of SIZE indices up to 3.10. Each has as few as hold it, with its sign.
 */
static uint64_t
indices_of_10(uint64_t size)
{
    return size <= 0xff         ? size
           : size <= 0xffff     ? 2 * size
           : size <= 0xffffffff ? 4 * size
                                : 8 * size;
}

/* Take from the WORDS of the entries' memory where the entries are. */
static bool
take_keys(const struct python *python, const uint64_t *words,
          struct python_dict *dict)
{
    uint64_t kind = KIND_GENERAL, count;
    if (python->layout.minor <= 10) {
        dict->entries =
            dict->keys + KEYS_INDICES_10 + indices_of_10(words[KEYS_SIZE]);
        count = words[KEYS_COUNT_10];
    } else {
        kind = KEYS_KIND(words[KEYS_SIZE]);
        dict->entries = dict->keys + KEYS_INDICES +
                        (1ull << (KEYS_LOG(words[KEYS_SIZE]) & 63));
        count = words[KEYS_COUNT];
    }
    dict->size = kind == KIND_TEXTS ? ENTRY_TEXTS_SIZE : ENTRY_SIZE;
    dict->count = (uint32_t)count;
    return kind <= KIND_TEXTS && count < COUNT_MOST;
}

bool
python_dict_open(const struct python *python, uint64_t address,
                 struct python_dict *dict)
{
    uint64_t words[DICT_WORDS], keys[KEYS_WORDS];
    if (!sys_copy_memory(words, address, sizeof(words)) ||
        words[DICT_TYPE] != python->dict_type || python->dict_type == 0)
        return false;
    *dict = (struct python_dict){.used = words[DICT_USED],
                                 .keys = words[DICT_KEYS]};
    return dict->used == 0 ||
           (sys_copy_memory(keys, dict->keys, sizeof(keys)) &&
            take_keys(python, keys, dict));
}

uint32_t
python_dict_read(const struct python_dict *dict, uint32_t from, uint32_t most,
                 struct python_entry entries[PYTHON_ENTRIES_MOST])
{
    uint8_t bytes[PYTHON_ENTRIES_MOST * ENTRY_SIZE];
    uint32_t left = from < dict->count ? dict->count - from : 0;
    most = most < PYTHON_ENTRIES_MOST ? most : PYTHON_ENTRIES_MOST;
    left = left < most ? left : most;
    long got =
        left == 0 ? 0
                  : sys_read_memory(bytes,
                                    dict->entries + (uint64_t)from * dict->size,
                                    (size_t)left * dict->size);
    uint32_t count = got > 0 ? (uint32_t)got / dict->size : 0;
    for (uint32_t i = 0; i < count; i++)
        memcpy(&entries[i],
               bytes + (size_t)(i + 1) * dict->size - sizeof(entries[i]),
               sizeof(entries[i]));
    return count;
}

uint64_t
python_dict_find(const struct python *python, const struct python_dict *dict,
                 const char *name, uint32_t *from)
{
    struct python_entry entries[PYTHON_ENTRIES_MOST];
    char text[PYTHON_TEXT_ROOM];
    uint32_t count;
    while ((count = python_dict_read(dict, *from, PYTHON_ENTRIES_MOST,
                                     entries)) != 0) {
        for (uint32_t i = 0; i < count; i++) {
            ++*from;
            if (entries[i].value != 0 &&
                python_text_read(&python->layout, entries[i].key, text) &&
                strcmp(text, name) == 0)
                return entries[i].value;
        }
    }
    return 0;
}
