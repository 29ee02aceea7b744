/* SPDX-License-Identifier: MIT */
/* spellings.c -- see spellings.h. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "spellings.h"

/* A file's name as it was put together from these two. */
struct path {
    const char *directory, *full;
};

/* Demangle LINKAGE (a string of the store) into a new spelling. */
static struct spelling *
new_spelling(struct spellings *spellings, const char *linkage)
{
    struct answer_store *store = spellings->store;
    struct spelling *spelling = answer_store_space(store, sizeof(*spelling));
    char *function;

    if (!spelling)
        return (NULL);
    function = demangle(linkage, spellings->form);
    spelling->linkage = linkage;
    spelling->function =
        function ? answer_store_string(store, function) : linkage;
    free(function);
    return (spelling->function ? spelling : NULL);
}

/* NAME without "@VERSION", kept. NULL if memory is short. */
static const char *
without_version(struct answer_store *store, const char *name)
{
    const char *version = *name ? strchr(name + 1, '@') : NULL;
    const char *linkage;
    char *bare;

    if (!version)
        return (answer_store_string(store, name));
    bare = strndup(name, (size_t)(version - name));
    linkage = bare ? answer_store_string(store, bare) : NULL;
    free(bare);
    return (linkage);
}

/* The spelling of NAME. NULL if memory is short. */
static struct spelling *
find_by_linkage(struct spellings *spellings, const char *name)
{
    const char *linkage = without_version(spellings->store, name);
    struct spelling *spelling;

    if (!linkage)
        return (NULL);
    spelling =
        address_table_find(&spellings->by_linkage, 0, (uintptr_t)linkage);
    if (spelling)
        return (spelling);
    spelling = new_spelling(spellings, linkage);
    if (!spelling || address_table_put(&spellings->by_linkage, 0,
                                       (uintptr_t)linkage, spelling))
        return (NULL);
    return (spelling);
}

const struct spelling *
spellings_name(struct spellings *spellings, const char *name)
{
    struct spelling *spelling =
        address_table_find(&spellings->names, 0, (uintptr_t)name);

    if (spelling)
        return (spelling);
    spelling = find_by_linkage(spellings, name);
    if (!spelling ||
        address_table_put(&spellings->names, 0, (uintptr_t)name, spelling))
        return (NULL);
    return (spelling);
}

/* FILE in DIRECTORY, kept. NULL if memory is short. */
static const char *
join(struct answer_store *store, const char *directory, const char *file)
{
    const char *kept;
    char *joined;

    if (!directory)
        return (answer_store_string(store, file));
    if (asprintf(&joined, "%s/%s", directory, file) < 0)
        return (NULL);
    kept = answer_store_string(store, joined);
    free(joined);
    return (kept);
}

/* Put together once while the directory is the same. */
const char *
spellings_path(struct spellings *spellings, const char *directory,
               const char *file)
{
    struct path *path =
        address_table_find(&spellings->paths, 0, (uintptr_t)file);

    if (path && path->directory == directory)
        return (path->full);
    if (!path) {
        path = answer_store_space(spellings->store, sizeof(*path));
        if (!path ||
            address_table_put(&spellings->paths, 0, (uintptr_t)file, path))
            return (NULL);
    }
    path->directory = directory;
    path->full = join(spellings->store, directory, file);
    return (path->full);
}

void
spellings_free(struct spellings *spellings)
{
    address_table_free(&spellings->paths);
    address_table_free(&spellings->names);
    address_table_free(&spellings->by_linkage);
}
