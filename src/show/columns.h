/* SPDX-License-Identifier: MIT */
/*
 * columns.h -- rows of values in columns: as text for people, as CSV or as JSON
 * for programs. The caller names the columns once and then gives each row's
 * values in that order:
 *
 *    cpu flat      %  function
 *       0.005  100.0  work (app)
 *
 *   function,cpu_flat_ns          "rows": [
 *   work,5000000                  {"function": "work", "cpu_flat_ns": 5000000}
 *                                 ]
 *
 * For text, the caller fills a struct columns itself, down to SORTED. No cell
 * is followed by blanks at the end of a row.
 */
#ifndef SHOW_COLUMNS_H
#define SHOW_COLUMNS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "util/json.h"

struct paint;

enum columns_format { COLUMNS_TEXT, COLUMNS_CSV, COLUMNS_JSON };

/* A column of text. A table ends with one that has no title (NULL). */
struct column {
    const char *title;
    int width;    /* negative: on the left; 0: the last, with any width */
    unsigned gap; /* blanks in front of it */
};

struct columns {
    FILE *stream;
    const struct column *all;  /* of text */
    const struct paint *paint; /* NULL: plain */
    unsigned limit;            /* width of a line; 0: any */
    unsigned least;            /* width that the last column keeps */
    uint32_t hidden;           /* bits: columns that are not shown */
    const char *sorted;        /* title to highlight; NULL: none */
    bool *has_error;           /* becomes true at the title ±; may be NULL */
    bool is_faint;             /* the row is dim, without other colours */
    const char *const *keys;   /* of data, ends with NULL; NULL: text */
    struct json *json;         /* of data; NULL: CSV */
    unsigned at;               /* column of the next value */
    unsigned blanks;           /* to print before the next value */
};

/* The width of a line without the text in its last column. */
unsigned columns_taken(const struct columns *columns);

/* Hide columns on a terminal that is too narrow for them and for the least
 * width of the last: of the columns in the bits of MAY, one after the other
 * from the right. */
void columns_fit(struct columns *columns, uint32_t may);

/* Print the titles of text, with HEADING (may be NULL) in a line above. */
void columns_titles(struct columns *columns, const char *heading);

/* Begin rows for programs: CSV to STREAM with a line of titles or, if JSON is
 * not NULL, the member "rows" of the object that is open there. */
void columns_begin_data(struct columns *columns, FILE *stream,
                        struct json *json, const char *const *keys);

/* Write the next value of the row. A value that is not finite is empty in CSV
 * and null in JSON. */
void columns_text(struct columns *columns, const char *text);
void columns_number(struct columns *columns, uint64_t number);
void columns_bool(struct columns *columns, bool value);
void columns_real(struct columns *columns, double number);

/* The same for text alone: a value in any form, with colour; a time in seconds;
 * a percentage; a percentage with a colour if it is large; a time with its
 * share of WHOLE in the next column; a text that is truncated to the width of
 * its column. */
__attribute__((format(printf, 3, 4))) void
columns_print(struct columns *columns, const char *colour, const char *format,
              ...);
void columns_seconds(struct columns *columns, uint64_t nanoseconds);
void columns_percent(struct columns *columns, double percent);
void columns_share(struct columns *columns, double percent);
void columns_time(struct columns *columns, uint64_t nanoseconds,
                  uint64_t whole);
void columns_name(struct columns *columns, const char *name);

/* Leave the next column of text empty. */
void columns_skip(struct columns *columns);

/* Begin a row of text that is of minor importance: all of it is dim. */
void columns_faint(struct columns *columns);

/* Begin the last column of text. The caller prints its value to the stream.
 * Returns the width that it may have; 0: any. */
unsigned columns_last(struct columns *columns);

void columns_end_row(struct columns *columns);

/* End the rows of JSON; the object stays open. */
void columns_end(struct columns *columns);

#endif
