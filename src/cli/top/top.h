/* SPDX-License-Identifier: MIT */
/*
 * top.h -- the parts of `sprofile top`. follow.c follows a process from its pid
 * to its spool (live/watch.h). When the process replaces itself by exec, or
 * begins another spool, the next spool is followed. A head and tables are
 * composed into a page, which is printed once (page_print) or shown on a
 * terminal until the user leaves.
 *
 * A page is lines of text with highlighted parts. Marks in the text are the
 * strings of page_paint, bytes that clean text never has:
 *
 *   page_begin(&page, columns);
 *   fprintf(page.stream, "%s%5.1f%s %%  work\n", page_paint.hot, 42.0,
 *           page_paint.end);
 *   page_end(&page);
 */
#ifndef CLI_TOP_TOP_H
#define CLI_TOP_TOP_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "cli/process/process.h"
#include "live/watch.h"
#include "show/paint.h"

struct follow {
    struct process process; /* valid if has_process */
    bool has_process;       /* false: a file was named */
    bool is_over;           /* no more records will come */
    struct watch *watch;    /* of the current spool */
    struct reader *reader;
    char path[PATH_MAX + 64]; /* of the spool */
    dev_t device;             /* device and inode of that file */
    ino_t inode;
    unsigned silent;   /* consecutive looks without a tick */
    bool was_replaced; /* at the last look, another file had the spool's path */
    const struct filter_options *filter;
};

/*
 * Begin to follow TARGET: a pid, or the path of a spool. FILTER must outlive
 * FOLLOW. Returns 0, or -1 with a sentence in ERROR (of SIZE bytes). The
 * sentence comes from process_find_spool or reader_open, or says that
 * the spool is not of one process.
 */
int follow_begin(struct follow *follow, const char *target,
                 const struct filter_options *filter, char *error, size_t size);

/* Read the new records. Returns 0, or -1 with errno set if memory is short. */
int follow_look(struct follow *follow);

/* The state of the process as words: "sampling", "has ended"... */
const char *follow_state(const struct follow *follow);

void follow_end(struct follow *follow);

/* The marks. A part within another one has its own look alone. */
enum page_look {
    PAGE_PLAIN,
    PAGE_TITLE,
    PAGE_HOT,
    PAGE_WARM,
    PAGE_ALERT,
    PAGE_FAINT
};
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
    enum page_look look, outer; /* of the next part, and after its end */
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

enum top_by { TOP_FUNCTIONS, TOP_THREADS };

/* What a table is sorted by. A table of threads has no TOP_SELF of its own:
 * there it means by time. */
enum top_order { TOP_SELF, TOP_TOTAL, TOP_NAME, TOP_TID, TOP_STATE };

struct top_view {
    enum value value; /* VALUE_CPU or VALUE_WALL */
    enum span span;   /* the time that shares refer to */
    enum top_by by;
    enum top_order orders[2]; /* by enum top_by */
    bool shows_idle;          /* idle threads are rows as all others */
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
void tables_add_head(struct page *page, const struct follow *follow,
                     const char *state, bool is_short);

/*
 * Add to PAGE a line that names the table, its titles, and ROWS (0: all) rows
 * from row FIRST on. The row of idle threads is the last one, also where others
 * are left out. *COUNT becomes the number of all rows. Returns 0, or -1
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
