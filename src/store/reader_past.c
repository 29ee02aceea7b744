/* SPDX-License-Identifier: MIT */
/* reader_past.c -- see reader_past.h. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "reader_past.h"

struct reader *
reader_past_open(const char *path, const struct spool_header *header)
{
    static const char ending[] = ".sprof";
    size_t length = strlen(path), cut = sizeof(ending) - 1;
    char name[PATH_MAX + 64];
    if (header->keep == 0 || header->begin == 0 || length < cut ||
        strcmp(path + length - cut, ending) != 0 ||
        snprintf(name, sizeof(name), "%.*s.past%s", (int)(length - cut), path,
                 ending) >= (int)sizeof(name))
        return NULL;
    char unused[sizeof(name) + 256];
    struct reader *reader = reader_open(name, unused, sizeof(unused));
    if (reader == NULL)
        return NULL;
    const struct spool_header *past = reader_header(reader);
    if (past->keep != 0 && past->pid == header->pid &&
        past->start_monotonic == header->start_monotonic)
        return reader;
    reader_end(reader);
    return NULL;
}
