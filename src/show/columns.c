/* SPDX-License-Identifier: MIT */
/* columns.c -- see columns.h. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "util/number.h"
#include "truncate.h"
#include "paint.h"
#include "columns.h"

/* Bytes of a number as text; a double has up to 309 digits. */
enum { NUMBER_SIZE = 352 };

unsigned
columns_taken(const struct columns *columns)
{
    unsigned taken = 0;
    for (unsigned i = 0; columns->all[i].title != NULL; i++)
        if ((columns->hidden >> i & 1) == 0)
            taken += columns->all[i].gap + (unsigned)abs(columns->all[i].width);
    return taken;
}

void
columns_fit(struct columns *columns, uint32_t may)
{
    unsigned limit = columns->limit;
    for (may &= ~columns->hidden;
         limit > 0 && may != 0 &&
         columns_taken(columns) + columns->least > limit;
         may &= ~columns->hidden)
        columns->hidden |= 1u << (31 - __builtin_clz(may));
}

/* The width of the last column; 0: any. */
static unsigned
last_width(const struct columns *columns)
{
    unsigned taken = columns_taken(columns);
    if (columns->limit == 0)
        return 0;
    return columns->limit > taken + columns->least ? columns->limit - taken
                                                   : columns->least;
}

static const struct paint *
paint_of(const struct columns *columns)
{
    return columns->paint != NULL ? columns->paint : &paint_none;
}

/* Begin the next column of text. Returns it; NULL if it is not shown. */
static const struct column *
begin_cell(struct columns *columns)
{
    unsigned at = columns->at++;
    if ((columns->hidden >> at & 1) != 0)
        return NULL;
    columns->blanks += columns->all[at].gap;
    return &columns->all[at];
}

static void
print_blanks(struct columns *columns)
{
    fprintf(columns->stream, "%*s", (int)columns->blanks, "");
    columns->blanks = 0;
}

void
columns_titles(struct columns *columns, const char *heading)
{
    const struct paint *paint = paint_of(columns);
    fputs(paint->title, columns->stream);
    if (heading != NULL) {
        truncate_text(columns->stream, heading, columns->limit);
        fputc('\n', columns->stream);
    }
    while (columns->all[columns->at].title != NULL) {
        const struct column *column = begin_cell(columns);
        if (column == NULL || column->title[0] == '\0')
            continue;
        if (columns->has_error != NULL && strcmp(column->title, "±") == 0)
            *columns->has_error = true;
        int rest = abs(column->width) - (int)truncate_width(column->title);
        bool is_sorted = columns->sorted != NULL &&
                         strcmp(column->title, columns->sorted) == 0;
        if (column->width > 0)
            columns->blanks += (unsigned)rest;
        print_blanks(columns);
        fprintf(columns->stream, "%s%s%s", is_sorted ? paint->alert : "",
                column->title, is_sorted ? paint->end : "");
        if (column->width < 0)
            columns->blanks = (unsigned)rest;
    }
    fputs(paint->end, columns->stream);
    columns_end_row(columns);
}

void
columns_begin_data(struct columns *columns, FILE *stream, struct json *json,
                   const char *const *keys)
{
    *columns = (struct columns){.stream = stream, .json = json, .keys = keys};
    if (json != NULL) {
        json_line(json);
        json_name_open(json, "rows", '[');
        return;
    }
    for (unsigned i = 0; keys[i] != NULL; i++)
        fprintf(stream, "%s%s", i > 0 ? "," : "", keys[i]);
    fputc('\n', stream);
}

/* Write what comes before the next value of data. */
static void
begin_value(struct columns *columns)
{
    unsigned at = columns->at++;
    if (columns->json == NULL) {
        if (at > 0)
            fputc(',', columns->stream);
        return;
    }
    if (at == 0) {
        json_line(columns->json);
        json_open(columns->json, '{');
    }
    json_name(columns->json, columns->keys[at]);
}

/* RFC 4180: a field with a comma, a quote or the end of a line stands in
 * quotes. Quotes in it are doubled: 5" is "5""". */
static void
print_csv(FILE *stream, const char *text)
{
    if (strpbrk(text, ",\"\r\n") == NULL) {
        fputs(text, stream);
        return;
    }
    fputc('"', stream);
    for (; *text != '\0'; text++) {
        if (*text == '"')
            fputc('"', stream);
        fputc(*text, stream);
    }
    fputc('"', stream);
}

/* Blanks after a text are printed only when the row has another value. */
static void
end_left(struct columns *columns, const struct column *column, unsigned width)
{
    unsigned whole = (unsigned)abs(column->width);
    columns->blanks = width < whole ? whole - width : 0;
}

void
columns_text(struct columns *columns, const char *text)
{
    if (columns->keys == NULL) {
        const struct column *column = begin_cell(columns);
        if (column == NULL)
            return;
        print_blanks(columns);
        fputs(text, columns->stream);
        end_left(columns, column, truncate_width(text));
        return;
    }
    begin_value(columns);
    if (columns->json != NULL)
        json_string(columns->json, text);
    else
        print_csv(columns->stream, text);
}

void
columns_number(struct columns *columns, uint64_t number)
{
    if (columns->keys == NULL) {
        columns_print(columns, "", "%" PRIu64, number);
        return;
    }
    begin_value(columns);
    if (columns->json != NULL)
        json_number(columns->json, number);
    else
        fprintf(columns->stream, "%" PRIu64, number);
}

void
columns_bool(struct columns *columns, bool value)
{
    begin_value(columns);
    if (columns->json != NULL)
        json_bool(columns->json, value);
    else
        fputs(value ? "true" : "false", columns->stream);
}

void
columns_real(struct columns *columns, double number)
{
    begin_value(columns);
    if (columns->json != NULL)
        json_real(columns->json, number);
    else if (isfinite(number))
        fprintf(columns->stream, "%.17g", number);
}

void
columns_print(struct columns *columns, const char *colour, const char *format,
              ...)
{
    const struct column *column = begin_cell(columns);
    va_list arguments;
    va_start(arguments, format);
    char text[NUMBER_SIZE];
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (column == NULL)
        return;
    print_blanks(columns);
    if (columns->is_faint)
        colour = "";
    fprintf(columns->stream, "%s%*s%s", colour, column->width, text,
            colour[0] != '\0' ? paint_of(columns)->end : "");
}

void
columns_seconds(struct columns *columns, uint64_t nanoseconds)
{
    columns_print(columns, "", "%.3f", number_seconds(nanoseconds));
}

void
columns_percent(struct columns *columns, double percent)
{
    columns_print(columns, "", "%.1f", percent);
}

/* The limits are those of perf report: hot from 5 %, warm from 0.5 %. */
void
columns_share(struct columns *columns, double percent)
{
    const struct paint *paint = paint_of(columns);
    columns_print(columns,
                  percent >= 5     ? paint->hot
                  : percent >= 0.5 ? paint->warm
                                   : "",
                  "%.1f", percent);
}

void
columns_time(struct columns *columns, uint64_t nanoseconds, uint64_t whole)
{
    columns_seconds(columns, nanoseconds);
    columns_share(columns, number_percent(nanoseconds, whole));
}

void
columns_name(struct columns *columns, const char *name)
{
    const struct column *column = begin_cell(columns);
    if (column == NULL)
        return;
    unsigned width = (unsigned)abs(column->width);
    print_blanks(columns);
    truncate_name(columns->stream, name,
                  width > 0 ? width : last_width(columns));
    end_left(columns, column, truncate_width(name));
}

void
columns_skip(struct columns *columns)
{
    const struct column *column = begin_cell(columns);
    if (column != NULL)
        columns->blanks += (unsigned)abs(column->width);
}

void
columns_faint(struct columns *columns)
{
    columns->is_faint = true;
    fputs(paint_of(columns)->faint, columns->stream);
}

unsigned
columns_last(struct columns *columns)
{
    begin_cell(columns);
    print_blanks(columns);
    return last_width(columns);
}

void
columns_end_row(struct columns *columns)
{
    columns->at = columns->blanks = 0;
    if (columns->is_faint)
        fputs(paint_of(columns)->end, columns->stream);
    columns->is_faint = false;
    if (columns->json != NULL)
        json_close(columns->json, '}');
    else
        fputc('\n', columns->stream);
}

void
columns_end(struct columns *columns)
{
    if (columns->json == NULL)
        return;
    json_line(columns->json);
    json_close(columns->json, ']');
}
