/* SPDX-License-Identifier: MIT */
/* fit.c -- see fit.h. In UTF-8, a byte that continues a character begins with
 * the bits 10. */
#include "fit.h"

#include <string.h>

static int
is_continued(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

unsigned
fit_width(const char *text)
{
    unsigned width = 0;

    for (; *text != '\0'; text++)
        width += !is_continued(*text);
    return width;
}

/* The bytes of the first COLUMNS characters of TEXT. */
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
fit_print(FILE *stream, const char *text, unsigned columns)
{
    if (columns == 0 || fit_width(text) <= columns)
        fputs(text, stream);
    else if (columns <= 3)
        fprintf(stream, "%.*s", (int)columns, "...");
    else
        fprintf(stream, "%.*s...", bytes_of(text, columns - 3), text);
}

void
fit_print_function(FILE *stream, const char *function, const char *module,
                   unsigned columns)
{
    unsigned width = fit_width(function) + fit_width(module) + 3;

    if (module[0] == '\0' || (columns > 0 && width > columns))
        fit_print(stream, function, columns);
    else
        fprintf(stream, "%s (%s)", function, module);
}
