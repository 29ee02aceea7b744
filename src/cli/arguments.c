/* SPDX-License-Identifier: MIT */
/* arguments.c -- see arguments.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "arguments.h"

/* The largest percentage and the longest time in seconds that are accepted. */
enum { PERCENT_MOST = 1000000, SECONDS_MOST = 86400 };

/* "a|b|c" is reported as "a, b or c". */
int
arguments_refuse(const struct command_option *option, const char *value)
{
    char name[32], expected[256];
    struct text text;
    text_begin(&text, expected, sizeof(expected));
    for (const char *word = option->words; *word != '\0';) {
        size_t length = strcspn(word, "|");
        text_add_bytes(&text, word, length);
        word += length + (word[length] == '|');
        if (word[-1] == '|')
            text_add(&text, strchr(word, '|') != NULL ? ", " : " or ");
    }
    if (option->letter != 0)
        snprintf(name, sizeof(name), "-%c", option->letter);
    else
        snprintf(name, sizeof(name), "--%s", option->name);
    return command_usage("%s %s: expected %s", name, value, expected);
}

int
arguments_flag(const struct command_option *option, void *field,
               const char *unused)
{
    (void)option;
    (void)unused;
    *(bool *)field = true;
    return STATUS_DONE;
}

int
arguments_clear(const struct command_option *option, void *field,
                const char *unused)
{
    (void)option;
    (void)unused;
    *(bool *)field = false;
    return STATUS_DONE;
}

int
arguments_enum(const struct command_option *option, void *field,
               const char *unused)
{
    (void)unused;
    *(unsigned *)field = (unsigned)option->number;
    return STATUS_DONE;
}

int
arguments_word(const struct command_option *option, void *field,
               const char *value)
{
    const char *word = option->words;
    for (unsigned i = 0;; i++) {
        size_t length = strcspn(word, "|");
        if (strlen(value) == length && memcmp(value, word, length) == 0) {
            *(unsigned *)field = i;
            return STATUS_DONE;
        }
        if (word[length] == '\0')
            return arguments_refuse(option, value);
        word += length + 1;
    }
}

int
arguments_text(const struct command_option *option, void *field,
               const char *value)
{
    (void)option;
    *(const char **)field = value;
    return STATUS_DONE;
}

/* Parse a number from 0 on. Returns 0, or -1 if TEXT is no number. */
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
arguments_count(const struct command_option *option, void *field,
                const char *value)
{
    return parse_count(value, field) == 0 ? STATUS_DONE
                                          : arguments_refuse(option, value);
}

const char *
arguments_fraction(const char *text, double most, double *number)
{
    char *end;
    size_t length = strspn(text, "0123456789.");
    *number = strtod(text, &end);
    return length > 0 && end == text + length && *number <= most ? end : NULL;
}

int
arguments_percent(const struct command_option *option, void *field,
                  const char *value)
{
    double number;
    const char *end = arguments_fraction(value, PERCENT_MOST, &number);
    if (end == NULL || end[*end == '%'] != '\0')
        return arguments_refuse(option, value);
    *(double *)field = number;
    return STATUS_DONE;
}

int
arguments_seconds(const struct command_option *option, void *field,
                  const char *value)
{
    double number;
    const char *end = arguments_fraction(value, SECONDS_MOST, &number);
    if (end == NULL || *end != '\0' || number < 0.1)
        return arguments_refuse(option, value);
    *(uint64_t *)field = (uint64_t)(number * 1e9);
    return STATUS_DONE;
}

/* A pid is parsed like a number of rows, but process 0 does not exist. */
int
arguments_pid(const char *text, pid_t *pid)
{
    uint32_t number;
    if (parse_count(text, &number) != 0 || number == 0 || number > INT32_MAX)
        return -1;
    *pid = (pid_t)number;
    return 0;
}
