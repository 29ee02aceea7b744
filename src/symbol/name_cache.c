/* SPDX-License-Identifier: MIT */
/* name_cache.c -- see name_cache.h. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "name_cache.h"

/* A full path for a file and the directory that it was built with. */
struct path {
    const char *directory, *full;
};

/* Demangle LINKAGE (a string of the store) into a new spelling. */
static struct spelling *
new_spelling(struct name_cache *cache, const char *linkage)
{
    struct intern *store = cache->store;
    struct spelling *spelling = intern_space(store, sizeof(*spelling));
    if (spelling == NULL)
        return NULL;
    char *function = demangle(linkage, cache->form);
    spelling->linkage = linkage;
    spelling->function =
        function != NULL ? intern_text(store, function) : linkage;
    free(function);
    return spelling->function != NULL ? spelling : NULL;
}

/* NAME without "@VERSION", kept. NULL if memory is short. */
static const char *
without_version(struct intern *store, const char *name)
{
    const char *version = *name != '\0' ? strchr(name + 1, '@') : NULL;
    if (version == NULL)
        return intern_text(store, name);
    return intern_format(store, "%.*s", (int)(version - name), name);
}

/* The spelling of NAME. NULL if memory is short. */
static struct spelling *
find_by_linkage(struct name_cache *cache, const char *name)
{
    const char *linkage = without_version(cache->store, name);
    void **place = linkage != NULL ? address_table_place(&cache->by_linkage, 0,
                                                         (uintptr_t)linkage)
                                   : NULL;
    if (place != NULL && *place == NULL)
        *place = new_spelling(cache, linkage);
    return place != NULL ? *place : NULL;
}

const struct spelling *
name_cache_name(struct name_cache *cache, const char *name)
{
    void **place = address_table_place(&cache->names, 0, (uintptr_t)name);
    if (place != NULL && *place == NULL)
        *place = find_by_linkage(cache, name);
    return place != NULL ? *place : NULL;
}

/* The path is built once while the directory is the same. */
const char *
name_cache_path(struct name_cache *cache, const char *directory,
                const char *file)
{
    void **place = address_table_place(&cache->paths, 0, (uintptr_t)file);
    if (place != NULL && *place == NULL)
        *place = intern_space(cache->store, sizeof(struct path));
    struct path *path = place != NULL ? *place : NULL;
    if (path == NULL)
        return NULL;
    if (path->full != NULL && path->directory == directory)
        return path->full;
    path->directory = directory;
    path->full = directory != NULL
                     ? intern_format(cache->store, "%s/%s", directory, file)
                     : intern_text(cache->store, file);
    return path->full;
}

void
name_cache_free(struct name_cache *cache)
{
    address_table_free(&cache->paths);
    address_table_free(&cache->names);
    address_table_free(&cache->by_linkage);
}
