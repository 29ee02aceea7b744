/* SPDX-License-Identifier: MIT */
/* top_page.h -- what `sprofile top` shows below its head (top_head.h):
 * functions or threads, a line each. */
#ifndef CLI_TOP_PAGE_H
#define CLI_TOP_PAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "profile/watch.h"

struct page;

enum top_by { TOP_FUNCTIONS, TOP_THREADS };

/* What a table is sorted by. A table of threads knows no SELF: its first order
 * is by time. */
enum top_order { TOP_SELF, TOP_TOTAL, TOP_NAME, TOP_TID, TOP_STATE };

struct top_view {
    enum value value; /* VALUE_CPU or VALUE_WALL */
    enum span span;   /* what shares are of */
    enum top_by by;
    enum top_order orders[2]; /* by enum top_by */
};

/* The next order for VIEW's table. */
void top_page_next_order(struct top_view *view);

/*
 * A line that says what the table is, its titles, and ROWS (0: all) of its rows
 * from number FIRST on; *COUNT is how many there are in all. Returns 0, or -1
 * with errno set if memory is short.
 */
int top_page_table(struct page *page, const struct watch *watch,
                   const struct top_view *view, uint32_t first, uint32_t rows,
                   uint32_t *count);

#endif
