/* SPDX-License-Identifier: MIT */
/*
 * formats.c -- looks up output endings and formats in the table of formats.h.
 * Pure functions, any context: no allocation, no stdio, because libsprof.so
 * calls them while the program starts.
 */
#include "formats.h"

#include <string.h>

static const struct row {
    const char *ending;
    bool needs_events;
    enum format wall;
} rows[] = {[FORMAT_UNKNOWN] = {"", false, FORMAT_UNKNOWN},
#define FORMAT(id, ending, words, needs_events, wall, write) \
    {ending, needs_events, FORMAT_##wall},
            FORMAT_TABLE(FORMAT)
#undef FORMAT
};

enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

/* Each row begins with a separator. Callers get the list without the first
 * one. */
static const char list[] = ""
#define FORMAT(id, ending, ...) ", " ending
    FORMAT_TABLE(FORMAT)
#undef FORMAT
    ;

static int
ends_with(const char *path, const char *ending)
{
    /* A name may consist of the ending alone. */
    size_t path_length = strlen(path);
    size_t length = strlen(ending);

    return path_length >= length &&
           memcmp(path + path_length - length, ending, length) == 0;
}

enum format
format_of(const char *path)
{
    for (unsigned i = FORMAT_UNKNOWN + 1; i < ROWS; i++)
        if (ends_with(path, rows[i].ending))
            return i;
    return FORMAT_UNKNOWN;
}

enum format
format_of_ending(const char *word)
{
    for (unsigned i = FORMAT_UNKNOWN + 1; i < ROWS; i++)
        if (strcmp(word, rows[i].ending) == 0 ||
            strcmp(word, rows[i].ending + 1) == 0)
            return i;
    return FORMAT_UNKNOWN;
}

bool
format_needs_events(enum format format)
{
    return rows[format].needs_events;
}

enum format
format_with_wall(enum format format)
{
    return rows[format].wall;
}

const char *
format_endings(void)
{
    return list + 2;
}
