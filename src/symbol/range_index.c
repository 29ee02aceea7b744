/* SPDX-License-Identifier: MIT */
/*
 * range_index.c -- a sorted array of ranges that may overlap. Report side.
 *
 * The ranges are sorted by start. A binary search finds the last range that
 * starts at or before an address. Ranges further left may be long enough to
 * reach the address too. So each entry knows how far it and all entries to its
 * left reach. The walk to the left ends at the first entry whose reach is short
 * of the address. In real files that takes one or two steps.
 */
#include <stdlib.h>

#include "util/array.h"
#include "range_index.h"

static int
compare_ranges(const void *a, const void *b)
{
    const struct range *x = a, *y = b;
    if (x->low != y->low)
        return x->low < y->low ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    /* qsort is not stable, but the same file must give the same answers. */
    if (x->value != y->value)
        return x->value < y->value ? 1 : -1;
    return 0;
}

/* Whether RANGES are sorted already. Compilers and linkers write most of them
 * in order. */
static bool
is_sorted(const struct range *ranges, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        if (compare_ranges(&ranges[i - 1], &ranges[i]) > 0)
            return false;
    }
    return true;
}

/* An empty range covers nothing and would only lengthen the walk. */
int
range_index_add(struct range_index *index, const struct range *range)
{
    if (range->low >= range->high)
        return 0;
    if (!ARRAY_GROW(index->ranges, index->count))
        return -1;
    index->ranges[index->count++] = *range;
    return 0;
}

void
range_index_seal(struct range_index *index)
{
    struct range *ranges = index->ranges;
    uint64_t next = UINT64_MAX, reach = 0;
    if (!is_sorted(ranges, index->count))
        qsort(ranges, index->count, sizeof(*ranges), compare_ranges);

    /* From the right: NEXT is the least start that is greater than the current
     * one. */
    for (size_t i = index->count; i-- > 0;) {
        if (i + 1 < index->count && ranges[i + 1].low > ranges[i].low)
            next = ranges[i + 1].low;
        if (ranges[i].open != 0 && ranges[i].high > next)
            ranges[i].high = next;
    }
    /* From the left: how far each range and all before it reach. */
    for (size_t i = 0; i < index->count; i++) {
        if (ranges[i].high > reach)
            reach = ranges[i].high;
        ranges[i].reach = reach;
    }
}

/* How many ranges start at or before ADDRESS. */
static size_t
started_by(const struct range_index *index, uint64_t address)
{
    size_t low = 0, high = index->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (index->ranges[middle].low <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct range *
range_index_find(const struct range_index *index, uint64_t address,
                 const struct range *previous)
{
    size_t i = previous != NULL ? (size_t)(previous - index->ranges)
                                : started_by(index, address);
    while (i-- > 0 && index->ranges[i].reach > address) {
        if (index->ranges[i].high > address)
            return &index->ranges[i];
    }
    return NULL;
}

const struct range *
range_index_before(const struct range_index *index, uint64_t address)
{
    size_t count = started_by(index, address);
    return count > 0 ? &index->ranges[count - 1] : NULL;
}

void
range_index_free(struct range_index *index)
{
    free(index->ranges);
    *index = (struct range_index){0};
}
