/* SPDX-License-Identifier: MIT */
/*
 * time_index.c -- see time_index.h. A segment tree: its leaves are the pieces
 * between neighbouring points, and a range is in the list of each of the few
 * nodes that together cover its pieces. An address asks the lists from its leaf
 * up to the root. A list is in the order of times, because ranges are put in
 * that order. So n ranges take n log n places whatever overlaps, and a question
 * takes log^2 n steps.
 */
#include <stdlib.h>
#include <string.h>

#include "time_index.h"

/* A range while the ranks are made. */
struct ranked {
    uint64_t time;
    uint32_t number;
};

static int
compare_numbers(const void *a, const void *b)
{
    const uint64_t *one = a, *two = b;
    return (*one > *two) - (*one < *two);
}

static int
compare_ranked(const void *a, const void *b)
{
    const struct ranked *one = a, *two = b;
    if (one->time != two->time)
        return one->time < two->time ? -1 : 1;
    return (one->number > two->number) - (one->number < two->number);
}

/* Fill the points of INDEX. */
static int
make_points(struct time_index *index, const struct time_range *ranges,
            uint32_t count)
{
    uint32_t kept = 0;
    index->points = calloc(2ul * count, sizeof(*index->points));
    if (index->points == NULL)
        return -1;
    for (uint32_t i = 0; i < count; i++) {
        index->points[2 * i] = ranges[i].low;
        index->points[2 * i + 1] = ranges[i].high;
    }
    qsort(index->points, 2ul * count, sizeof(*index->points), compare_numbers);
    for (uint32_t i = 0; i < 2 * count; i++)
        if (kept == 0 || index->points[kept - 1] != index->points[i])
            index->points[kept++] = index->points[i];
    index->point_count = kept;
    return 0;
}

static int
make_ranks(struct time_index *index, const struct time_range *ranges,
           uint32_t count)
{
    struct ranked *ranked = calloc(count, sizeof(*ranked));
    index->by_rank = calloc(count, sizeof(*index->by_rank));
    index->times = calloc(count, sizeof(*index->times));
    if (ranked == NULL || index->by_rank == NULL || index->times == NULL) {
        free(ranked);
        return -1;
    }
    for (uint32_t i = 0; i < count; i++)
        ranked[i] = (struct ranked){ranges[i].time, i};
    qsort(ranked, count, sizeof(*ranked), compare_ranked);
    for (uint32_t i = 0; i < count; i++) {
        index->by_rank[i] = ranked[i].number;
        index->times[i] = ranked[i].time;
    }
    free(ranked);
    return 0;
}

/* The number of the last point at or below ADDRESS. POINT_COUNT if none is. */
static uint32_t
find_point(const struct time_index *index, uint64_t address)
{
    uint32_t low = 0, high = index->point_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (index->points[middle] <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low == 0 ? index->point_count : low - 1;
}

/* Count one more rank of NODE, or, if the places are known, put RANK into the
 * next one. FIRST[NODE] moves to the end of the node's list. */
static void
put_rank(struct time_index *index, uint32_t node, uint32_t rank)
{
    if (index->ranks != NULL)
        index->ranks[index->first[node]] = rank;
    index->first[node]++;
}

/* Put RANK into the lists of the nodes that cover RANGE. */
static void
put_range(struct time_index *index, const struct time_range *range,
          uint32_t rank)
{
    uint32_t low = find_point(index, range->low) + index->point_count;
    uint32_t high = find_point(index, range->high) + index->point_count;
    for (; low < high; low /= 2, high /= 2) {
        if (low % 2 != 0)
            put_rank(index, low++, rank);
        if (high % 2 != 0)
            put_rank(index, --high, rank);
    }
}

static void
put_ranges(struct time_index *index, const struct time_range *ranges,
           uint32_t count)
{
    for (uint32_t rank = 0; rank < count; rank++)
        put_range(index, &ranges[index->by_rank[rank]], rank);
}

/* Make the lists: the first pass counts, the second one fills. */
static int
make_lists(struct time_index *index, const struct time_range *ranges,
           uint32_t count)
{
    uint32_t nodes = 2 * index->point_count, sum = 0;
    index->first = calloc(nodes + 1ul, sizeof(*index->first));
    if (index->first == NULL)
        return -1;
    put_ranges(index, ranges, count);
    for (uint32_t i = 0; i <= nodes; i++) {
        uint32_t length = index->first[i];
        index->first[i] = sum;
        sum += length;
    }
    index->ranks = calloc(sum, sizeof(*index->ranks));
    if (index->ranks == NULL)
        return -1;
    put_ranges(index, ranges, count);
    /* Each FIRST has moved to the beginning of the next list. */
    memmove(index->first + 1, index->first, nodes * sizeof(*index->first));
    index->first[0] = 0;
    return 0;
}

int
time_index_make(struct time_index *index, const struct time_range *ranges,
                uint32_t count)
{
    if (count == 0)
        return 0;
    if (make_points(index, ranges, count) == 0 &&
        make_ranks(index, ranges, count) == 0 &&
        make_lists(index, ranges, count) == 0)
        return 0;
    time_index_clear(index);
    return -1;
}

/* The ranks in the list of NODE that began by TIME: the number of them. */
static uint32_t
count_begun(const struct time_index *index, uint32_t node, uint64_t time)
{
    uint32_t low = index->first[node], high = index->first[node + 1];
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (index->times[index->ranks[middle]] <= time)
            low = middle + 1;
        else
            high = middle;
    }
    return low - index->first[node];
}

uint32_t
time_index_find(const struct time_index *index, uint64_t address, uint64_t time)
{
    uint32_t leaf = find_point(index, address);
    uint32_t latest = TIME_INDEX_NONE, earliest = TIME_INDEX_NONE;
    if (leaf == index->point_count)
        return TIME_INDEX_NONE;
    for (uint32_t node = leaf + index->point_count; node > 0; node /= 2) {
        const uint32_t *list = index->ranks + index->first[node];
        uint32_t begun = count_begun(index, node, time);
        if (begun > 0 &&
            (latest == TIME_INDEX_NONE || list[begun - 1] > latest))
            latest = list[begun - 1];
        if (index->first[node] < index->first[node + 1] && list[0] < earliest)
            earliest = list[0];
    }
    if (latest == TIME_INDEX_NONE)
        latest = earliest;
    return latest == TIME_INDEX_NONE ? latest : index->by_rank[latest];
}

bool
time_index_has_several(const struct time_index *index, uint64_t address)
{
    uint32_t leaf = find_point(index, address), count = 0;
    if (leaf == index->point_count)
        return false;
    for (uint32_t node = leaf + index->point_count; node > 0; node /= 2)
        count += index->first[node + 1] - index->first[node];
    return count > 1;
}

void
time_index_clear(struct time_index *index)
{
    free(index->points);
    free(index->by_rank);
    free(index->times);
    free(index->first);
    free(index->ranks);
    *index = (struct time_index){0};
}
