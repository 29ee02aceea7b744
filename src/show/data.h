/* SPDX-License-Identifier: MIT */
/*
 * data.h -- rows for programs, as CSV or as JSON. The caller names the columns
 * once and then gives each row's values in that order:
 *
 *   function,cpu_flat_ns          "rows": [
 *   work,5000000                  {"function": "work", "cpu_flat_ns": 5000000}
 *                                 ]
 */
#ifndef SHOW_DATA_H
#define SHOW_DATA_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum data_format { DATA_NONE, DATA_CSV, DATA_JSON };

struct data {
    FILE *stream;
    enum data_format format;
    const char *const *keys; /* of the columns, ends with NULL */
    unsigned column;         /* of the next value */
    bool has_rows;
};

/* Begin the rows: a line of titles, or the member "rows" of an object. */
void data_begin(struct data *data, FILE *stream, enum data_format format,
                const char *const *keys);

/* Write the next value. The first value of a row begins it, the last ends it.
 */
void data_text(struct data *data, const char *value);
void data_number(struct data *data, uint64_t value);

void data_truth(struct data *data, bool value);

/* Write VALUE. If it is not finite, write nothing (CSV) or null (JSON). */
void data_real(struct data *data, double value);

/* End the rows; the object of JSON stays open. */
void data_end(struct data *data);

#endif
