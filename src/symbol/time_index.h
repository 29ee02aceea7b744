/* SPDX-License-Identifier: MIT */
/*
 * time_index.h -- which of many address ranges holds an address at a time. A
 * range holds its addresses from its time on, until the next one that covers
 * them. Ranges may overlap in any way. Report side only.
 */
#ifndef SYMBOL_TIME_INDEX_H
#define SYMBOL_TIME_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TIME_INDEX_NONE UINT32_MAX

/* Limit of the ranges of an index. If each overlaps all others, this many take
 * 170 MiB. */
#define TIME_INDEX_MOST (1u << 20)

struct time_range {
    uint64_t low, high; /* [low, high), not empty */
    uint64_t time;      /* ns */
};

/* All zero is an empty index. The fields are time_index.c's. */
struct time_index {
    uint64_t *points; /* where a range begins or ends; sorted, each once */
    uint32_t point_count;
    uint32_t *by_rank; /* numbers of ranges, by time and then by number */
    uint64_t *times;   /* of ranges, by rank */
    uint32_t *first;   /* of each tree node's ranks in RANKS, and the end */
    uint32_t *ranks;   /* sorted within each tree node */
};

/* Make INDEX, which is empty, of COUNT ranges, at most TIME_INDEX_MOST. Returns
 * 0, or -1 if memory is short; INDEX is then empty. */
int time_index_make(struct time_index *index, const struct time_range *ranges,
                    uint32_t count);

/* Returns the number of the range that holds ADDRESS at TIME. A time before the
 * first range that covers ADDRESS gives that range. Of ranges with equal times
 * the last one counts. TIME_INDEX_NONE if no range covers ADDRESS. */
uint32_t time_index_find(const struct time_index *index, uint64_t address,
                         uint64_t time);

/* Whether more than one range covers ADDRESS. */
bool time_index_has_several(const struct time_index *index, uint64_t address);

/* Make INDEX empty, and free its memory. */
void time_index_clear(struct time_index *index);

#endif
