/* SPDX-License-Identifier: MIT */
/*
 * columns.h -- rows of values in columns, as CSV or as JSON. The caller names
 * the columns once and then gives each row's values in that order:
 *
 *   function,cpu_flat_ns          "rows": [
 *   work,5000000                  {"function": "work", "cpu_flat_ns": 5000000}
 *                                 ]
 */
#ifndef SHOW_COLUMNS_H
#define SHOW_COLUMNS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "util/json.h"

enum columns_format { COLUMNS_TEXT, COLUMNS_CSV, COLUMNS_JSON };

struct columns {
    FILE *stream;
    struct json *json;       /* NULL: CSV */
    const char *const *keys; /* of the columns, ends with NULL */
    unsigned at;             /* column of the next value */
};

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

void columns_end_row(struct columns *columns);

/* End the rows of JSON; the object stays open. */
void columns_end(struct columns *columns);

#endif
