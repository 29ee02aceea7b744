/* SPDX-License-Identifier: MIT */
/* path.h -- parts of paths. Context: any. */
#ifndef BASE_PATH_H
#define BASE_PATH_H

#include <string.h>

/* Returns the last part of PATH: what is behind its last slash. */
static inline const char *
path_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

#endif
