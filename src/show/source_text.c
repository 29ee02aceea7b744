/* SPDX-License-Identifier: MIT */
/*
 * source_text.c -- prints functions line by line. The first line is the
 * declaration, or a little before the first line with samples; the last is a
 * little behind the last line with samples:
 *
 *   work (app), /src/app.c
 *    cpu flat      %   cpu cum      %  line
 *                                        7 void work(void)
 *       0.100    5.0     0.400   20.0    8     step(n);
 *
 * If the file cannot be read, the lines with samples are shown by their
 * numbers, with the reason.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "view/lines.h"
#include "columns.h"
#include "truncate.h"
#include "text_report.h"

/* AROUND: lines of source before the first and behind the last line with
 * samples. BEFORE_MOST: most lines between the declaration and the first line
 * with samples. */
enum { AROUND = 3, BEFORE_MOST = 200 };

/* A narrower terminal than NARROW has no columns for PERCENTAGES (bits). */
enum { NARROW = 80, PERCENTAGES = 0xa, TEXT_LEAST = 8 };

/* A function that is being printed. */
struct listing {
    FILE *stream, *source; /* SOURCE is NULL if it cannot be read */
    struct columns *columns;
    enum value value;
    uint64_t whole;
    const struct table_row *rows, *end;
};

/* A source file may contain anything. Replace control characters: a terminal is
 * shown plain text. */
static void
make_plain(char *text)
{
    size_t length = strcspn(text, "\r\n");
    text[length] = '\0';
    for (; *text != '\0'; text++)
        if (((unsigned char)*text < 0x20 && *text != '\t') || *text == 0x7f)
            *text = '?';
}

/* Print LINE with the numbers of ROW, which may be NULL, and its TEXT. Tabs
 * become blanks, so that truncate_text can count columns. */
static void
print_line(const struct listing *listing, const struct table_row *row,
           unsigned line, const char *text)
{
    struct columns *columns = listing->columns;
    size_t length = 0;
    for (unsigned i = 0; row == NULL && i < 4; i++)
        columns_skip(columns);
    if (row != NULL) {
        columns_time(columns, row->flat[listing->value], listing->whole);
        columns_time(columns, row->cumulative[listing->value], listing->whole);
    }
    columns_number(columns, line);
    char wide[1024];
    for (; *text != '\0' && length < sizeof(wide) - 9; text++)
        if (*text == '\t')
            do
                wide[length++] = ' ';
            while (length % 8 != 0);
        else
            wide[length++] = *text;
    wide[length] = '\0';
    unsigned width = columns_last(columns);
    truncate_text(listing->stream, wide, width);
    columns_end_row(columns);
}

/* The lines to print are *FIRST to *LAST. */
static void
find_range(const struct listing *listing, unsigned *first, unsigned *last)
{
    const struct table_row *row = listing->rows;
    unsigned least = row->line, start = row->start_line;
    *last = listing->end[-1].line + AROUND;
    *first = least > AROUND ? least - AROUND : 1;
    if (start > 0 && start < least && least - start < BEFORE_MOST)
        *first = start;
}

/* The lines with samples are in the order of the file, so one pass is enough.
 */
static void
print_source(const struct listing *listing)
{
    const struct table_row *row = listing->rows;
    unsigned first, last, number = 0;
    char *text = NULL;
    size_t size = 0;
    find_range(listing, &first, &last);
    while (number < last && getline(&text, &size, listing->source) >= 0) {
        const struct table_row *here = NULL;
        number++;
        if (row < listing->end && row->line == number)
            here = row++;
        if (number < first)
            continue;
        make_plain(text);
        print_line(listing, here, number, text);
    }
    free(text);
    for (; row < listing->end; row++)
        print_line(listing, row, row->line, "(the file ends before this line)");
}

/* Open the file of the function, or print why it is not shown. A file that was
 * changed after the run may have other lines at these numbers. */
static void
open_source(struct listing *listing, const struct profile *profile)
{
    const char *file = listing->rows->file;
    if (file[0] == '\0') {
        fputs("note: its module has no line numbers\n", listing->stream);
        return;
    }
    listing->source = fopen(file, "re");
    struct stat status;
    if (listing->source == NULL ||
        fstat(fileno(listing->source), &status) != 0 ||
        !S_ISREG(status.st_mode)) {
        fprintf(listing->stream, "note: the source is not here: %s\n",
                listing->source == NULL ? strerror(errno) : "not a file");
        if (listing->source != NULL)
            fclose(listing->source);
        listing->source = NULL;
        return;
    }
    if ((uint64_t)status.st_mtime > profile->start / 1000000000u)
        fputs("note: the source is newer than the profile\n", listing->stream);
}

static void
print_function(struct listing *listing, const struct profile *profile)
{
    const struct table_row *row = listing->rows;
    const struct paint *paint = listing->columns->paint;
    fputs(paint->title, listing->stream);
    truncate_function(listing->stream, row->function, row->module, 0);
    fprintf(listing->stream, "%s%s%s\n", row->file[0] != '\0' ? ", " : "",
            row->file, paint->end);
    open_source(listing, profile);
    columns_titles(listing->columns, NULL);
    for (; listing->rows < listing->end && listing->rows->line == 0;
         listing->rows++)
        print_line(listing, listing->rows, 0, "(no line)");
    if (listing->source != NULL) {
        if (listing->rows < listing->end)
            print_source(listing);
        fclose(listing->source);
    } else {
        for (; listing->rows < listing->end; listing->rows++)
            print_line(listing, listing->rows, listing->rows->line, "");
    }
}

void
source_text_write(FILE *stream, const struct profile *profile,
                  const struct table *lines,
                  const struct text_report_options *options)
{
    bool by_cpu = options->value == VALUE_CPU;
    const struct column all[] = {
        {by_cpu ? "cpu flat" : "wall flat", 9, 0},
        {"%", 5, 2},
        {by_cpu ? "cpu cum" : "wall cum", 9, 1},
        {"%", 5, 2},
        {"line", 6, 1},
        {"", 0, 1},
        {NULL, 0, 0},
    };
    struct columns columns = {
        .stream = stream,
        .all = all,
        .paint = options->paint != NULL ? options->paint : &paint_none,
        .limit = options->columns,
        .least = TEXT_LEAST,
        .hidden =
            options->columns > 0 && options->columns < NARROW ? PERCENTAGES : 0,
    };
    uint32_t count;
    for (uint32_t i = 0; i < lines->count; i += count) {
        struct listing listing = {
            .stream = stream,
            .columns = &columns,
            .value = options->value,
            .whole = profile->totals[options->value],
            .rows = &lines->rows[i],
        };
        count = lines_of_function(lines, i);
        listing.end = listing.rows + count;
        if (i > 0)
            fputc('\n', stream);
        print_function(&listing, profile);
    }
}
