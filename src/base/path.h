/* SPDX-License-Identifier: MIT */
/* path.h -- parts of paths. Context: any. */
#ifndef BASE_PATH_H
#define BASE_PATH_H

#include <stdbool.h>
#include <string.h>

/* Returns the last part of PATH, after its last slash. */
static inline const char *
path_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* Whether PATH ends with ENDING and has more in front of it. */
static inline bool
path_ends_with(const char *path, const char *ending)
{
    size_t length = strlen(path), size = strlen(ending);
    return length > size && strcmp(path + length - size, ending) == 0;
}

#endif
