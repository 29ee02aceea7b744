/* SPDX-License-Identifier: MIT */
/* columns.c -- see columns.h. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "columns.h"

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

/* Write what stands in front of the next value. */
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

void
columns_text(struct columns *columns, const char *text)
{
    begin_value(columns);
    if (columns->json != NULL)
        json_string(columns->json, text);
    else
        print_csv(columns->stream, text);
}

void
columns_number(struct columns *columns, uint64_t number)
{
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
columns_end_row(struct columns *columns)
{
    columns->at = 0;
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
