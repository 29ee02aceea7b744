/* SPDX-License-Identifier: MIT */
/* truncate.c -- see truncate.h. In UTF-8 a byte that continues a character
 * begins with the bits 10. */
#include <stdbool.h>
#include <string.h>

#include "truncate.h"

/* Columns that a function keeps at least; if fewer are left, its module is left
 * out. */
enum { FUNCTION_LEAST = 16, NAME_LEAST = 5 };

static int
is_continued(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

unsigned
truncate_width(const char *text)
{
    unsigned width = 0;
    for (; *text != '\0'; text++)
        width += !is_continued(*text);
    return width;
}

/* The number of bytes of the first COLUMNS characters of TEXT. */
static int
bytes_of(const char *text, unsigned columns)
{
    const char *end = text;
    for (; *end != '\0'; end++) {
        if (!is_continued(*end) && columns == 0)
            break;
        columns -= !is_continued(*end);
    }
    return (int)(end - text);
}

void
truncate_text(FILE *stream, const char *text, unsigned columns)
{
    if (columns == 0 || truncate_width(text) <= columns)
        fputs(text, stream);
    else if (columns <= 3)
        fprintf(stream, "%.*s", (int)columns, "...");
    else
        fprintf(stream, "%.*s...", bytes_of(text, columns - 3), text);
}

void
truncate_start(FILE *stream, const char *text, unsigned columns)
{
    fprintf(stream, "%.*s", bytes_of(text, columns), text);
}

/* The beginning and the end are kept; the end has the function's own name, and
 * is one column longer if the room is uneven. */
void
truncate_name(FILE *stream, const char *name, unsigned columns)
{
    unsigned width = truncate_width(name);
    if (columns == 0 || width <= columns || columns <= 4) {
        truncate_text(stream, name, columns);
        return;
    }
    unsigned first = (columns - 3) / 2;
    fprintf(stream, "%.*s...%s", bytes_of(name, first), name,
            name + bytes_of(name, width - (columns - 3 - first)));
}

void
truncate_function(FILE *stream, const char *function, const char *module,
                  unsigned columns)
{
    truncate_line(stream, function, "", module, columns);
}

void
truncate_line(FILE *stream, const char *function, const char *place,
              const char *module, unsigned columns)
{
    unsigned whole = truncate_width(function);
    unsigned least = whole < FUNCTION_LEAST ? whole : FUNCTION_LEAST;
    unsigned after = truncate_width(place) + (place[0] != '\0');
    if (columns > 0 && after > 0 &&
        after + (whole < NAME_LEAST ? whole : NAME_LEAST) > columns) {
        truncate_name(stream, place, columns);
        return;
    }
    if (columns > 0 && after + least > columns)
        least = columns - after;
    bool has_module = module[0] != '\0';
    if (has_module && columns > 0 &&
        least + after + truncate_width(module) + 3 > columns)
        has_module = false;
    if (has_module)
        after += truncate_width(module) + 3;
    if (columns > 0 && after > 0)
        columns = columns > after + least ? columns - after : least;
    truncate_name(stream, function, columns);
    fprintf(stream, "%s%s", place[0] != '\0' ? " " : "", place);
    if (has_module)
        fprintf(stream, " (%s)", module);
}
