/* SPDX-License-Identifier: MIT */
/* listing.c -- see listing.h. */
#include <string.h>

#include "truncate.h"
#include "listing.h"

/* A narrower terminal than NARROW has no columns for PERCENTAGES (bits).
 * TEXT_LEAST: columns that the text keeps. VALUES: columns in front of the
 * number. */
enum { NARROW = 80, PERCENTAGES = 0x16, TEXT_LEAST = 8, VALUES = 5 };

void
listing_begin(struct listing *listing, FILE *stream,
              const struct profile *profile,
              const struct text_report_options *options)
{
    bool by_cpu = options->value == VALUE_CPU;
    const struct column all[] = {
        {by_cpu ? "cpu flat" : "wall flat", 9, 0},
        {"%", 5, 2},
        {"±", 4, 1},
        {by_cpu ? "cpu cum" : "wall cum", 9, 1},
        {"%", 5, 2},
        {"line", 6, 1},
        {"", 0, 1},
        {NULL, 0, 0},
    };
    *listing = (struct listing){
        .columns =
            {
                .stream = stream,
                .paint = options->paint != NULL ? options->paint : &paint_none,
                .limit = options->columns,
                .has_error = options->has_error,
                .least = TEXT_LEAST,
                .hidden = options->columns > 0 && options->columns < NARROW
                              ? PERCENTAGES
                              : 0,
            },
        .value = options->value,
        .whole = confidence_of(profile, options->value),
    };
    memcpy(listing->all, all, sizeof(all));
    listing->columns.all = listing->all;
}

void
listing_line(struct listing *listing, const uint64_t *flat,
             const double *squares, const uint64_t *cumulative, unsigned line,
             const char *text)
{
    uint64_t whole = (uint64_t)listing->whole.value;
    struct columns *columns = &listing->columns;
    for (unsigned i = 0; flat == NULL && i < VALUES; i++)
        columns_skip(columns);
    if (flat != NULL) {
        const struct confidence sum = {(double)flat[listing->value],
                                       squares != NULL ? squares[listing->value]
                                                       : 0};
        columns_time(columns, flat[listing->value], whole);
        columns_percent(columns, confidence_interval(&sum, &listing->whole));
        columns_time(columns, cumulative[listing->value], whole);
    }
    if (line > 0)
        columns_number(columns, line);
    else
        columns_skip(columns);
    unsigned width = columns_last(columns);
    truncate_text(columns->stream, text, width);
    columns_end_row(columns);
}
