/* SPDX-License-Identifier: MIT */
/*
 * range_index.h -- finds the address ranges that cover an address, nearest
 * start first. Ranges may nest and overlap. It serves symbols, units, functions
 * and inlined calls. The caller fills it with range_index_add, seals it once,
 * and then only asks.
 */
#ifndef SYMBOL_RANGE_INDEX_H
#define SYMBOL_RANGE_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct range {
    uint64_t low, high; /* [low, high) */
    uint64_t reach;     /* greatest HIGH of this range and all before it */
    uint32_t value;     /* for the caller's use */
    uint32_t rank : 31; /* among equal starts, the highest rank is nearest */
    uint32_t open : 1;  /* ends at the next greater start, at most at HIGH */
};

#define RANGE_RANK_MAX 0x7fffffffu

/* All zero is an empty index. */
struct range_index {
    struct range *ranges;
    size_t count;
};

/* Add a copy of RANGE. Its reach is ignored, and an empty range is left out.
 * Returns 0, or -1 with errno set. */
int range_index_add(struct range_index *index, const struct range *range);

/* Sort the ranges. The caller may add more later, and seal again. */
void range_index_seal(struct range_index *index);

/*
 * Returns the nearest range that covers ADDRESS. With PREVIOUS (a result for
 * the same address), returns the next one outward. NULL if no range is left.
 */
const struct range *range_index_find(const struct range_index *index,
                                     uint64_t address,
                                     const struct range *previous);

/* Returns the range that begins nearest before or at ADDRESS, whether or not it
 * covers it. NULL if none does. */
const struct range *range_index_before(const struct range_index *index,
                                       uint64_t address);

void range_index_free(struct range_index *index);

#endif
