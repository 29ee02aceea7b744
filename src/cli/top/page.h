/* SPDX-License-Identifier: MIT */
/*
 * page.h -- lines of text with highlighted parts. A page is made once and then
 * printed (page_print) or drawn on a screen (top_screen.h).
 *
 *   page_begin(&page, columns);
 *   page_add(&page, PAGE_TITLE);
 *   fputs("a title", page.stream);
 *   page_add(&page, PAGE_PLAIN);
 *   fprintf(page.stream, "%5.1f %%  work", 42.0);
 *   page_mark(&page, 0, 5, PAGE_HOT);
 *   page_end(&page);
 */
#ifndef CLI_TOP_PAGE_H
#define CLI_TOP_PAGE_H

#include <stdbool.h>
#include <stdio.h>

struct paint;

enum page_look {
    PAGE_PLAIN,
    PAGE_TITLE,
    PAGE_HOT,
    PAGE_WARM,
    PAGE_ALERT, /* must not be overlooked */
};

enum { PAGE_MARKS = 4 };

/* LENGTH characters, beginning at column START. They and all before them are
 * ASCII. */
struct page_mark {
    unsigned start, length;
    enum page_look look;
};

struct page_line {
    enum page_look look;
    struct page_mark marks[PAGE_MARKS]; /* from left to right */
    unsigned mark_count;
};

struct page {
    FILE *stream;     /* text for the latest line is written here */
    unsigned columns; /* limit of a line; 0: no limit */
    char *text;       /* after page_end: all lines, each with a newline */
    size_t size;
    struct page_line *lines;
    unsigned count;
    bool failed; /* memory was short */
};

/* Begin an empty page. COLUMNS limits the lines; 0: no limit. Returns 0, or -1
 * with errno set. */
int page_begin(struct page *page, unsigned columns);

/* Begin a line. LOOK holds where no mark does. */
void page_add(struct page *page, enum page_look look);

/* Highlight LENGTH characters of the latest line, from column START on. Marks
 * beyond PAGE_MARKS are left out. */
void page_mark(struct page *page, unsigned start, unsigned length,
               enum page_look look);

/* Finish the page. Returns 0, or -1 with errno set if memory was short. The
 * caller calls page_release in both cases. */
int page_end(struct page *page);

void page_print(FILE *stream, const struct page *page,
                const struct paint *paint);

void page_release(struct page *page);

#endif
