/* SPDX-License-Identifier: MIT */
/*
 * package_index.c -- see package_index.h. Report side. No number in it can be
 * trusted: a place outside of the section reads as nothing.
 */
#include <stddef.h>

#include "package_index.h"

#define VERSION_GNU 2
#define VERSION_5 5
/* Most steps of one search. A table is at most two thirds full, so more steps
 * mean damage. */
#define MOST_STEPS 10000

static uint32_t
number_at(const struct bytes *table, uint64_t place)
{
    struct bytes number = bytes_from(table, place * sizeof(uint32_t));
    return (uint32_t)bytes_number(&number, sizeof(uint32_t));
}

bool
package_index_read(struct package_index *index, const struct bytes *section)
{
    struct bytes at = *section;
    uint32_t version = (uint32_t)bytes_number(&at, 4) & 0xffff;
    index->is_version_5 = version == VERSION_5;
    index->columns = (uint32_t)bytes_number(&at, 4);
    index->rows = (uint32_t)bytes_number(&at, 4);
    index->slots = (uint32_t)bytes_number(&at, 4);
    uint64_t cells = (uint64_t)index->rows * index->columns;
    index->ids = at;
    bytes_skip(&at, (uint64_t)index->slots * 8);
    index->row_numbers = at;
    bytes_skip(&at, (uint64_t)index->slots * 4);
    index->parts = at;
    bytes_skip(&at, (uint64_t)index->columns * 4);
    index->offsets = at;
    /* The numbers may promise more cells than 32 bits can count. */
    if (cells > UINT32_MAX)
        return false;
    bytes_skip(&at, cells * 4);
    index->sizes = at;
    bytes_skip(&at, cells * 4);
    return at.at != NULL && index->slots > 0 &&
           (index->slots & (index->slots - 1)) == 0 &&
           (version == VERSION_GNU || version == VERSION_5);
}

/* Open addressing: a slot whose row is 0 ends the search. */
uint32_t
package_index_row(const struct package_index *index, uint64_t id)
{
    uint64_t mask = index->slots - 1, slot = id & mask;
    uint64_t step = ((id >> 32) & mask) | 1;
    for (uint32_t i = 0; i < index->slots && i < MOST_STEPS;
         i++, slot = (slot + step) & mask) {
        struct bytes at = bytes_from(&index->ids, slot * 8);
        uint32_t row = number_at(&index->row_numbers, slot);
        if (row == 0)
            return 0;
        if (bytes_number(&at, 8) == id)
            return row <= index->rows ? row : 0;
    }
    return 0;
}

struct bytes
package_index_cut(const struct package_index *index, uint32_t row,
                  enum package_part part, const struct bytes *section)
{
    for (uint32_t i = 0; i < index->columns; i++) {
        uint64_t cell = (uint64_t)(row - 1) * index->columns + i;
        if (number_at(&index->parts, i) != part)
            continue;
        struct bytes found =
            bytes_from(section, number_at(&index->offsets, cell));
        struct bytes behind =
            bytes_from(&found, number_at(&index->sizes, cell));
        if (behind.at == NULL)
            break;
        found.end = behind.at;
        return found;
    }
    return (struct bytes){0};
}
