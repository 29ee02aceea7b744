/* SPDX-License-Identifier: MIT */
/*
 * text.c -- text without stdio; see text.h. Even snprintf is avoided in the
 * profiled program: it may allocate, and it reads the locale. A program can
 * also register conversions of its own.
 */
#include <stdbool.h>

#include "text.h"
#include "poison.h"

void
text_begin(struct text *text, char *buffer, size_t size)
{
    text->buffer = buffer;
    text->size = size;
    text->length = 0;
    text->cut = 0;
    buffer[0] = '\0';
}

void
text_add_bytes(struct text *text, const char *bytes, size_t length)
{
    /* The last byte is always left for the NUL. */
    for (size_t i = 0; i < length; i++) {
        if (text->length + 1 >= text->size) {
            text->cut = 1;
            break;
        }
        text->buffer[text->length++] = bytes[i];
    }
    text->buffer[text->length] = '\0';
}

void
text_add(struct text *text, const char *string)
{
    size_t length = 0;
    while (string[length] != '\0')
        length++;
    text_add_bytes(text, string, length);
}

/* The digits of NUMBER, with SEPARATOR between thousands if it is not NUL. */
static void
add_digits(struct text *text, uint64_t number, char separator)
{
    char digits[32]; /* 20 digits and 6 separators at the most */
    size_t at = sizeof(digits);
    unsigned count = 0;
    do {
        if (separator != '\0' && count != 0 && count % 3 == 0)
            digits[--at] = separator;
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
        count++;
    } while (number != 0);
    text_add_bytes(text, digits + at, sizeof(digits) - at);
}

void
text_add_number(struct text *text, uint64_t number)
{
    add_digits(text, number, '\0');
}

void
text_add_grouped(struct text *text, uint64_t number)
{
    add_digits(text, number, ',');
}

/* In UTF-8, bytes from 0x80 to 0x9f also continue longer characters, and are
 * harmless there. The byte before is then above 0x7f, and is not 0xc2. */
static bool
is_control(unsigned char before, unsigned char byte)
{
    if (byte < ' ' || byte == 127)
        return true;
    return byte >= 0x80 && byte <= 0x9f && (before < 0x80 || before == 0xc2);
}

void
text_hide_controls(char *text)
{
    unsigned char before = 0;
    for (; *text != '\0'; text++) {
        unsigned char byte = (unsigned char)*text;
        if (is_control(before, byte))
            *text = '?';
        before = byte;
    }
}

void
text_add_tenths(struct text *text, uint64_t number, uint64_t scale)
{
    /* Rounded, not cut off: 0.96 is nearer to 1.0. */
    uint64_t tenths = (number * 10 + scale / 2) / scale;
    add_digits(text, tenths / 10, '\0');
    text_add(text, ".");
    add_digits(text, tenths % 10, '\0');
}
