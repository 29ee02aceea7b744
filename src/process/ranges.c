/* SPDX-License-Identifier: MIT */
/*
 * ranges.c -- see ranges.h. The list of mappings comes sorted by address, and
 * so the ranges are.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/sys.h"
#include "ranges.h"
#include "base/poison.h"

/* Reserved, not touched: a program with 40 libraries uses two pages of it. What
 * does not fit is no code, and no stack is walked through it. */
#define RANGES_MAX 16384

static struct range *ranges;
static uint32_t count;

int
ranges_begin(void)
{
    if (ranges == NULL)
        ranges = sys_reserve(RANGES_MAX * sizeof(*ranges));
    count = 0;
    return ranges == NULL ? -1 : 0;
}

void
ranges_clear(void)
{
    count = 0;
}

/* Generated code may be in very many mappings, which lie side by side. */
static bool
continues(const struct range *last, const struct range *range)
{
    return last->end == range->start && last->module == NO_MODULE &&
           range->module == NO_MODULE && last->shift == SHIFT_ANONYMOUS &&
           range->shift == SHIFT_ANONYMOUS;
}

void
ranges_add(const struct range *range)
{
    if (count != 0 && continues(&ranges[count - 1], range))
        ranges[count - 1].end = range->end;
    else if (count < RANGES_MAX)
        ranges[count++] = *range;
}

uint32_t
ranges_count(void)
{
    return count;
}

struct range *
ranges_at(uint32_t i)
{
    return &ranges[i];
}

void
ranges_join(uint32_t first)
{
    uint32_t kept = first;
    for (uint32_t i = first; i < count; i++) {
        struct range *last = kept != 0 ? &ranges[kept - 1] : NULL;
        if (last != NULL && last->end == ranges[i].start &&
            last->module == ranges[i].module)
            last->end = ranges[i].end;
        else
            ranges[kept++] = ranges[i];
    }
    count = kept;
}

const struct range *
ranges_find(uint64_t address)
{
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (ranges[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low == count || address < ranges[low].start ? NULL : &ranges[low];
}
