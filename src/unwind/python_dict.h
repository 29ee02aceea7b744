/* SPDX-License-Identifier: MIT */
/*
 * python_dict.h -- reads dictionaries of Python (dict) up to 3.13 without the
 * interpreter's lock. They may change or be freed meanwhile. So what is found
 * is a hint, and the caller looks at it again before it is used.
 */
#ifndef UNWIND_PYTHON_DICT_H
#define UNWIND_PYTHON_DICT_H

#include <stdbool.h>
#include <stdint.h>

#include "python.h"

/* Where a dictionary has its entries, in the order in which they came. */
struct python_dict {
    uint64_t used; /* entries that were not removed */
    uint64_t keys; /* the memory that has the entries; it moves as it grows */
    uint64_t entries; /* address of the first one */
    uint32_t count;   /* with those that were removed, whose value is 0 */
    uint32_t size;    /* bytes of an entry; its last words are key and value */
};

/* An entry: addresses of two objects. */
struct python_entry {
    uint64_t key, value;
};

/* Look at the dictionary at ADDRESS. Makes one or two system calls, one if it
 * is empty. Returns false if there is none, or if it cannot be read. Context:
 * any. */
bool python_dict_open(const struct python *python, uint64_t address,
                      struct python_dict *dict);

/* Read entries of DICT from number FROM on, at most MOST. Makes one system
 * call. Returns how many were read. Context: any. */
#define PYTHON_ENTRIES_MOST 16u
uint32_t python_dict_read(const struct python_dict *dict, uint32_t from,
                          uint32_t most,
                          struct python_entry entries[PYTHON_ENTRIES_MOST]);

/* The value whose key is the text NAME, among the entries of DICT from number
 * *FROM on. *FROM becomes the number of those that were looked at. 0: there is
 * none. Context: sampler. */
uint64_t python_dict_find(const struct python *python,
                          const struct python_dict *dict, const char *name,
                          uint32_t *from);

#endif
