/* SPDX-License-Identifier: MIT */
/* numbers.c -- see numbers.h. */
#include "numbers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { PERCENT_MOST = 1000000, SECONDS_MOST = 86400 };

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

int
numbers_percent(const char *text, double *percent)
{
    size_t length = strspn(text, "0123456789.");
    char *end;
    double number;

    if (length == 0)
        return -1;
    number = strtod(text, &end);
    if (end != text + length || (*end == '%' ? end[1] : *end) != '\0' ||
        number > PERCENT_MOST)
        return -1;
    *percent = number;
    return 0;
}

/* As a number of rows, but there is no process 0. */
int
numbers_pid(const char *text, pid_t *pid)
{
    uint32_t number;

    if (numbers_rows(text, &number) < 0 || number == 0 || number > INT32_MAX)
        return -1;
    *pid = (pid_t)number;
    return 0;
}

int
numbers_seconds(const char *text, uint64_t *time)
{
    size_t length = strspn(text, "0123456789.");
    char *end;
    double number;

    if (length == 0)
        return -1;
    number = strtod(text, &end);
    if (end != text + length || *end != '\0' || number < 0.1 ||
        number > SECONDS_MOST)
        return -1;
    *time = (uint64_t)(number * 1e9);
    return 0;
}
