/* SPDX-License-Identifier: MIT */
/*
 * top.h -- the parts of `sprofile top`: a head and tables are composed into a
 * page (page.h), which is printed once or shown on a terminal until the user
 * leaves.
 */
#ifndef CLI_TOP_TOP_H
#define CLI_TOP_TOP_H

#include <stdbool.h>
#include <stdint.h>

#include "live/watch.h"

struct follow;
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

struct top_options {
    struct top_view view;
    uint64_t interval; /* ns */
    uint32_t rows;     /* 0: as many as fit */
    bool has_colour;
};

/* Add the program, its CPU time, threads, samples, losses and cost to PAGE: one
 * line if IS_SHORT, else several. STATE is the state of the process
 * ("sampling"). */
void head_add(struct page *page, const struct follow *follow, const char *state,
              bool is_short);

/*
 * Add to PAGE a line that names the table, its titles, and ROWS (0: all) rows
 * from row FIRST on. *COUNT becomes the number of all rows. Returns 0, or -1
 * with errno set if memory is short.
 */
int tables_add(struct page *page, const struct watch *watch,
               const struct top_view *view, uint32_t first, uint32_t rows,
               uint32_t *count);

/* Switch VIEW's table to its next order; after the last comes the first. */
void tables_next_order(struct top_view *view);

/* Run until a key or a signal ends the display. The caller has called
 * follow_look once. Returns an exit status; unless that is STATUS_DONE, a
 * message was printed. */
int interactive_run(struct follow *follow, const struct top_options *options);

#endif
