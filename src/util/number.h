/* SPDX-License-Identifier: MIT */
/* number.h -- numbers as people and files read them. Pure functions. */
#ifndef UTIL_NUMBER_H
#define UTIL_NUMBER_H

#include <ctype.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* PART as percent of WHOLE. 0 if WHOLE is 0, as in a spool without counts or a
 * profile without CPU time. */
static inline double
number_percent(uint64_t part, uint64_t whole)
{
    return whole == 0 ? 0 : 100.0 * (double)part / (double)whole;
}

/* Nanoseconds as seconds. */
static inline double
number_seconds(uint64_t nanoseconds)
{
    return (double)nanoseconds / 1e9;
}

/* Write LENGTH BYTES in hexadecimal to TEXT, which has room for two digits each
 * and the NUL. Returns TEXT. */
static inline const char *
number_hexadecimal(const uint8_t *bytes, size_t length, char *text)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < length; i++) {
        text[2 * i] = digits[bytes[i] >> 4];
        text[2 * i + 1] = digits[bytes[i] & 15];
    }
    text[2 * length] = '\0';
    return text;
}

/* Read the hexadecimal TEXT, of two digits for each byte, into BYTES, which has
 * room for MOST. The first two characters that are no such digits end it.
 * Returns how many bytes there are. */
static inline size_t
number_bytes(const char *text, uint8_t *bytes, size_t most)
{
    size_t length = 0;
    unsigned byte;
    for (; length < most && isxdigit((unsigned char)text[0]) &&
           isxdigit((unsigned char)text[1]) && sscanf(text, "%2x", &byte) == 1;
         text += 2)
        bytes[length++] = (uint8_t)byte;
    return length;
}

/* The ending of a plural for COUNT: "s", or "" for one. */
static inline const char *
number_plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

#endif
