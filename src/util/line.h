/* SPDX-License-Identifier: MIT */
/*
 * line.h -- a line in a caller's buffer, to which words are added as by
 * printf(3). Text that does not fit is cut off. (base/text.h is for the
 * profiled program, where printf is forbidden.)
 */
#ifndef UTIL_LINE_H
#define UTIL_LINE_H

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

struct line {
    char *text;
    size_t size, length; /* of TEXT in bytes; LENGTH is without the NUL */
};

/* Add text to the end of LINE. */
__attribute__((format(printf, 2, 3))) static inline void
line_add(struct line *line, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line->text + line->length, line->size - line->length,
                           format, arguments);
    va_end(arguments);
    if (length > 0)
        line->length += (size_t)length;
    if (line->length >= line->size)
        line->length = line->size - 1;
}

#endif
