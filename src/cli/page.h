/* SPDX-License-Identifier: MIT */
/*
 * page.h -- lines of text with what is to stand out in them, made once and then
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
#ifndef CLI_PAGE_H
#define CLI_PAGE_H

#include <stdbool.h>
#include <stdio.h>

struct paint;

enum page_look {
    PAGE_PLAIN,
    PAGE_TITLE,
    PAGE_HOT,
    PAGE_WARM,
    PAGE_ALERT, /* what must be seen */
};

enum { PAGE_MARKS = 4 };

/* LENGTH characters from START on, which are ASCII as all before them. */
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
    FILE *stream;     /* what is written here is on the latest line */
    unsigned columns; /* that lines should fit in; 0: any number */
    char *text;       /* once it is ended: the lines, each with its newline */
    size_t size;
    struct page_line *lines;
    unsigned count;
    bool failed; /* memory was short */
};

/* An empty page. Returns 0, or -1 with errno set. */
int page_begin(struct page *page, unsigned columns);

/* Begin a line. */
void page_add(struct page *page, enum page_look look);

/* Let a part of the latest line stand out. More than PAGE_MARKS are left out.
 */
void page_mark(struct page *page, unsigned start, unsigned length,
               enum page_look look);

/* Nothing more will come. Returns 0, or -1 with errno set if memory was short;
 * page_release is due in both cases. */
int page_end(struct page *page);

void page_print(FILE *stream, const struct page *page,
                const struct paint *paint);

void page_release(struct page *page);

#endif
