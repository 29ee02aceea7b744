/* SPDX-License-Identifier: MIT */
/*
 * source_text.c -- prints functions line by line. The first line is the
 * declaration, or a little before the first line with samples; the last is a
 * little after the last line with samples:
 *
 *   work (app), /src/app.c
 *    cpu flat      %    ±   cpu cum      %  line
 *                                             7 void work(void)
 *       0.100    5.0  1.1     0.400   20.0    8     step(n);
 *
 * If the file cannot be read, the lines with samples are shown by their
 * numbers, with the reason.
 */
#include "view/lines.h"
#include "listing.h"
#include "source_file.h"
#include "truncate.h"
#include "text_report.h"

/* The rows of a function that are being printed. */
struct rows {
    const struct table_row *at, *end;
};

static void
print_row(struct listing *listing, const struct table_row *row,
          const char *text)
{
    listing_line(listing, row->flat, row->flat_squares, row->cumulative,
                 row->line, text);
}

/* The lines with samples are in the order of the file, so one pass is enough.
 */
static void
print_source(struct listing *listing, const struct rows *rows,
             struct source_file *source)
{
    const struct table_row *row = rows->at;
    unsigned first, last;
    lines_range(row, (uint32_t)(rows->end - row), &first, &last);
    while (source->number < last && source_file_next(source)) {
        if (row < rows->end && row->line == source->number)
            print_row(listing, row++, source->line);
        else if (source->number >= first)
            listing_line(listing, NULL, NULL, NULL, source->number,
                         source->line);
    }
    for (; row < rows->end; row++)
        print_row(listing, row, "(the file ends before this line)");
}

/* Open FILE. If it is not shown, print why, and return -1. A file that was
 * changed after the run may have other lines at these numbers. */
static int
open_source(FILE *stream, const struct profile *profile, const char *file,
            struct source_file *source)
{
    const char *problem;
    *source = (struct source_file){0};
    if (file[0] == '\0') {
        fputs("note: its module has no line numbers\n", stream);
        return -1;
    }
    if (source_file_open(source, file, &problem) != 0) {
        fprintf(stream, "note: the source is not here: %s\n", problem);
        return -1;
    }
    if ((uint64_t)source->changed > profile->start / 1000000000u)
        fputs("note: the source is newer than the profile\n", stream);
    return 0;
}

static void
print_function(struct listing *listing, const struct profile *profile,
               struct rows rows)
{
    FILE *stream = listing->columns.stream;
    const struct table_row *row = rows.at;
    const struct paint *paint = listing->columns.paint;
    struct source_file source;
    unsigned columns = listing->columns.limit;
    fputs(paint->title, stream);
    truncate_function(stream, row->function, row->module, columns);
    if (row->file[0] != '\0') {
        bool fits = columns == 0 || truncate_width(row->function) +
                                            truncate_width(row->module) +
                                            truncate_width(row->file) + 5 <=
                                        columns;
        fputs(fits ? ", " : ",\n", stream);
        truncate_name(stream, row->file, columns);
    }
    fprintf(stream, "%s\n", paint->end);
    bool is_open = open_source(stream, profile, row->file, &source) == 0;
    columns_titles(&listing->columns, NULL);
    for (; rows.at < rows.end && rows.at->line == 0; rows.at++)
        print_row(listing, rows.at, "(no line)");
    if (is_open && rows.at < rows.end)
        print_source(listing, &rows, &source);
    for (; !is_open && rows.at < rows.end; rows.at++)
        print_row(listing, rows.at, "");
    source_file_close(&source);
}

void
source_text_write(FILE *stream, const struct profile *profile,
                  const struct table *lines,
                  const struct text_report_options *options)
{
    struct listing listing;
    uint32_t count;
    listing_begin(&listing, stream, profile, options);
    for (uint32_t i = 0; i < lines->count; i += count) {
        count = lines_of_function(lines, i);
        const struct rows rows = {&lines->rows[i], &lines->rows[i] + count};
        if (i > 0)
            fputc('\n', stream);
        print_function(&listing, profile, rows);
    }
}
