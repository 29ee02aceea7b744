/* SPDX-License-Identifier: MIT */
/* numbers.c -- see numbers.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "numbers.h"

/* The largest percentage and the longest time in seconds that are accepted. */
enum { PERCENT_MOST = 1000000, SECONDS_MOST = 86400 };

/* Parse a number from 0 on. Returns 0, or -1 if TEXT is none. */
static int
parse_count(const char *text, uint32_t *count)
{
    errno = 0;
    char *end;
    unsigned long number = strtoul(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 ||
        number > UINT32_MAX)
        return -1;
    *count = (uint32_t)number;
    return 0;
}

int
numbers_take_rows(const char *command, const char *text, uint32_t *rows)
{
    if (parse_count(text, rows) == 0)
        return STATUS_DONE;
    return command_usage(command, "-n %s: expected a number, 0 for all", text);
}

int
numbers_take_depth(const char *command, const char *text, uint32_t *depth)
{
    if (parse_count(text, depth) == 0)
        return STATUS_DONE;
    return command_usage(command, "--depth %s: expected a number, 0 for all",
                         text);
}

int
numbers_percent(const char *text, double *percent)
{
    size_t length = strspn(text, "0123456789.");
    if (length == 0)
        return -1;
    char *end;
    double number = strtod(text, &end);
    if (end != text + length || (*end == '%' ? end[1] : *end) != '\0' ||
        number > PERCENT_MOST)
        return -1;
    *percent = number;
    return 0;
}

/* A pid is parsed like a number of rows, but there is no process 0. */
int
numbers_pid(const char *text, pid_t *pid)
{
    uint32_t number;
    if (parse_count(text, &number) != 0 || number == 0 || number > INT32_MAX)
        return -1;
    *pid = (pid_t)number;
    return 0;
}

int
numbers_seconds(const char *text, uint64_t *time)
{
    size_t length = strspn(text, "0123456789.");
    if (length == 0)
        return -1;
    char *end;
    double number = strtod(text, &end);
    if (end != text + length || *end != '\0' || number < 0.1 ||
        number > SECONDS_MOST)
        return -1;
    *time = (uint64_t)(number * 1e9);
    return 0;
}
