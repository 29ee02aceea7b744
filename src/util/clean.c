/* SPDX-License-Identifier: MIT */
/*
 * clean.c -- checks UTF-8 by its definition: shortest forms only, no
 * surrogates, nothing beyond U+10FFFF. Nearly all strings are clean and are
 * interned without a copy.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "intern.h"
#include "clean.h"

static bool
continues(unsigned char byte)
{
    return (byte & 0xc0) == 0x80;
}

/* The length of the valid character at TEXT. 0 if no valid one is there, or it
 * is a control character (C1 included, because some terminals obey those). A
 * NUL continues nothing, so this never reads beyond the end of the string. */
static size_t
character_length(const unsigned char *text)
{
    unsigned char first = text[0];
    if (first < 0x80)
        return first >= ' ' && first != 0x7f;
    unsigned char second;
    if (first < 0xc2 || first > 0xf4 || !continues(second = text[1]))
        return 0;
    if (first < 0xe0)
        return second >= 0xa0 || first != 0xc2 ? 2 : 0;
    if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
        (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f) ||
        !continues(text[2]))
        return 0;
    if (first < 0xf0)
        return 3;
    return continues(text[3]) ? 4 : 0;
}

size_t
clean_length(const char *text, const char *forbidden)
{
    size_t length = 0;
    size_t step;
    for (; text[length] != '\0'; length += step) {
        step = character_length((const unsigned char *)text + length);
        if (step == 0 || strchr(forbidden, text[length]) != NULL)
            break;
    }
    return length;
}

uint32_t
clean_put(struct intern *intern, const char *raw, const char *forbidden)
{
    size_t length = clean_length(raw, forbidden);
    if (raw[length] == '\0')
        return intern_put(intern, raw, length);
    char *copy = strdup(raw);
    if (copy == NULL)
        return INTERN_NONE;
    while (copy[length] != '\0') {
        copy[length] = '?';
        length += clean_length(copy + length, forbidden);
    }
    uint32_t number = intern_put(intern, copy, length);
    free(copy);
    return number;
}

char *
clean_format(const char *format, ...)
{
    char *text;
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0)
        text = NULL;
    else
        text_hide_controls(text);
    va_end(arguments);
    return text;
}
