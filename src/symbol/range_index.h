/* SPDX-License-Identifier: MIT */
/*
 * range_index.h -- which of many address ranges cover an address, nearest
 * start first. Ranges may nest and overlap. Used for symbols, units,
 * functions and inlined calls alike: filled with range_index_add, sealed once,
 * then only asked.
 */
#ifndef SYMBOL_RANGE_INDEX_H
#define SYMBOL_RANGE_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct range {
    uint64_t low, high; /* [low, high) */
    uint64_t reach;     /* the greatest HIGH of this range and all before it */
    uint32_t value;     /* the caller's */
    uint32_t rank : 31; /* of ranges with equal starts the highest is nearest */
    uint32_t open : 1;  /* ends at the next greater start, at HIGH at most */
};

#define RANGE_RANK_MAX 0x7fffffffu

/* All zero is an empty index. */
struct range_index {
    struct range *ranges;
    size_t count, capacity;
};

/* Adds a copy of RANGE (its reach is ignored; an empty one is left out).
 * Returns 0, or -1 with errno set. */
int range_index_add(struct range_index *index, const struct range *range);

/* Sort what was added. More may be added later, and sealed again. */
void range_index_seal(struct range_index *index);

/*
 * The nearest range that covers ADDRESS; with PREVIOUS (a result for the same
 * address) the next one outward. NULL if there is none.
 */
const struct range *range_index_find(const struct range_index *index,
                                     uint64_t address,
                                     const struct range *previous);

void range_index_free(struct range_index *index);

#endif
