/* SPDX-License-Identifier: MIT */
/*
 * page.h -- lines of text with highlighted parts. A page is made once and then
 * printed (page_print) or drawn on a terminal (terminal.h). Marks in the text
 * are the strings of page_paint, bytes that clean text never has:
 *
 *   page_begin(&page, columns);
 *   fprintf(page.stream, "%s%5.1f%s %%  work\n", page_paint.hot, 42.0,
 *           page_paint.end);
 *   page_end(&page);
 */
#ifndef CLI_TOP_PAGE_H
#define CLI_TOP_PAGE_H

#include <stdbool.h>
#include <stdio.h>

#include "show/paint.h"

/* The marks. A part within another one has its own look alone. */
enum page_look { PAGE_PLAIN, PAGE_TITLE, PAGE_HOT, PAGE_WARM, PAGE_ALERT };
extern const struct paint page_paint;

struct page {
    FILE *stream;     /* lines are written here, each with a newline */
    unsigned columns; /* limit of a line; 0: no limit */
    char *text;       /* after page_end: all lines */
    size_t size;
};

/* A reader of the lines of a page; zero but for TEXT at the beginning. */
struct page_reader {
    const char *text;           /* the rest */
    enum page_look look, outer; /* of the next part, and behind its end */
};

/* A part of a line that has one look. */
struct page_part {
    const char *text;
    size_t length;
    enum page_look look, outer; /* of the part, and around it */
};

/* Begin an empty page. COLUMNS limits the lines; 0: no limit. Returns 0, or -1
 * with errno set. */
int page_begin(struct page *page, unsigned columns);

/* Finish the page. Returns 0, or -1 with errno set if memory was short. The
 * caller calls page_release in both cases. */
int page_end(struct page *page);

/* Read the next part. Returns false if it is the last one of its line. */
bool page_next_part(struct page_reader *reader, struct page_part *part);

void page_print(FILE *stream, const struct page *page,
                const struct paint *paint);

void page_release(struct page *page);

#endif
