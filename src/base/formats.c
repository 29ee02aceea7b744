/* SPDX-License-Identifier: MIT */
/*
 * formats.c -- the table of output endings, asked in two ways. Pure functions,
 * any context: no allocation, no stdio, because libsprof.so calls them while
 * the program starts.
 */
#include "formats.h"

#include <string.h>

static const struct ending {
    enum format format;
    const char *text;
} endings[] = {
#define FORMAT(name, ending, words) {FORMAT_##name, ending},
    FORMAT_TABLE(FORMAT)
#undef FORMAT
};

enum { ENDINGS = sizeof(endings) / sizeof(endings[0]) };

/* Every row brings its separator; whoever asks for the list gets it without the
 * first one. */
static const char list[] = ""
#define FORMAT(name, ending, words) ", " ending
    FORMAT_TABLE(FORMAT)
#undef FORMAT
    ;

static int
ends_with(const char *path, const char *ending)
{
    /* A name that is nothing but the ending is a name all the same. */
    size_t path_length = strlen(path);
    size_t length = strlen(ending);

    return path_length >= length &&
           memcmp(path + path_length - length, ending, length) == 0;
}

enum format
format_of(const char *path)
{
    for (unsigned i = 0; i < ENDINGS; i++)
        if (ends_with(path, endings[i].text))
            return endings[i].format;
    return FORMAT_UNKNOWN;
}

enum format
format_of_ending(const char *word)
{
    for (unsigned i = 0; i < ENDINGS; i++)
        if (strcmp(word, endings[i].text) == 0 ||
            strcmp(word, endings[i].text + 1) == 0)
            return endings[i].format;
    return FORMAT_UNKNOWN;
}

enum format
format_with_wall(enum format format)
{
    if (format == FORMAT_FOLDED)
        return FORMAT_FOLDED_WALL;
    return format == FORMAT_SPEEDSCOPE ? FORMAT_SPEEDSCOPE_WALL : format;
}

const char *
format_endings(void)
{
    return list + 2;
}
