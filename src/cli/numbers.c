/* SPDX-License-Identifier: MIT */
/* numbers.c -- see numbers.h. */
#include "numbers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { PERCENT_MOST = 1000000 };

int
numbers_rows(const char *text, uint32_t *rows)
{
    char *end;
    unsigned long number;

    errno = 0;
    number = strtoul(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 ||
        number > UINT32_MAX)
        return -1;
    *rows = (uint32_t)number;
    return 0;
}

/* Digits with or without a point into *NUMBER. Returns what is behind them,
 * NULL if there are none. */
static const char *
read_decimal(const char *text, double *number)
{
    size_t length = strspn(text, "0123456789.");
    char *end;

    if (length == 0)
        return NULL;
    *number = strtod(text, &end);
    return end == text + length ? end : NULL;
}

int
numbers_percent(const char *text, double *percent)
{
    double number;
    const char *end = read_decimal(text, &number);

    if (end == NULL || (*end == '%' ? end[1] : *end) != '\0' ||
        number > PERCENT_MOST)
        return -1;
    *percent = number;
    return 0;
}

int
numbers_seconds(const char *text, double least, double most, uint64_t *time)
{
    double number;
    const char *end = read_decimal(text, &number);

    if (end == NULL || *end != '\0' || number < least || number > most)
        return -1;
    *time = (uint64_t)(number * 1e9 + 0.5);
    return 0;
}
