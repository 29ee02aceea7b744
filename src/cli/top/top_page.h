/* SPDX-License-Identifier: MIT */
/* top_page.h -- what `sprofile top` shows below its head (top_head.h): a table
 * of functions or of threads, one per line. */
#ifndef CLI_TOP_TOP_PAGE_H
#define CLI_TOP_TOP_PAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "live/watch.h"

struct page;

enum top_by { TOP_FUNCTIONS, TOP_THREADS };

/* What a table is sorted by. A table of threads has no TOP_SELF of its own:
 * there it means by time. */
enum top_order { TOP_SELF, TOP_TOTAL, TOP_NAME, TOP_TID, TOP_STATE };

struct top_view {
    enum value value; /* VALUE_CPU or VALUE_WALL */
    enum span span;   /* the time that shares refer to */
    enum top_by by;
    enum top_order orders[2]; /* by enum top_by */
};

/* Switch VIEW's table to its next order; after the last comes the first. */
void top_page_next_order(struct top_view *view);

/*
 * Add to PAGE a line that names the table, its titles, and ROWS (0: all) rows
 * from row FIRST on. *COUNT becomes the number of all rows. Returns 0, or -1
 * with errno set if memory is short.
 */
int top_page_table(struct page *page, const struct watch *watch,
                   const struct top_view *view, uint32_t first, uint32_t rows,
                   uint32_t *count);

#endif
