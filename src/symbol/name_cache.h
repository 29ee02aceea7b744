/* SPDX-License-Identifier: MIT */
/*
 * name_cache.h -- names and file paths as they are shown, each built once. The
 * caller's strings must stay in place, as those of an open image do. Report
 * side.
 */
#ifndef SYMBOL_NAME_CACHE_H
#define SYMBOL_NAME_CACHE_H

#include "util/intern.h"
#include "address_table.h"
#include "demangle.h"

/* A name of a symbol table, and the programmer's name for it. */
struct spelling {
    const char *linkage, *function;
};

/* All zero except STORE, which holds the built strings, and FORM. */
struct name_cache {
    struct intern *store;
    enum demangle_form form;         /* of names of functions */
    struct address_table by_linkage; /* (0, linkage): struct spelling */
    /* The same spellings by the address of a name in its file, and full paths
     * by the address of their last part. So a name that comes again is not
     * hashed again. */
    struct address_table names; /* (0, name): struct spelling */
    struct address_table paths; /* (0, file): struct path */
};

/* The spelling of NAME, which may have a version ("@GLIBC_2.34"). NULL if
 * memory is short. */
const struct spelling *name_cache_name(struct name_cache *cache,
                                       const char *name);

/* The path of FILE in DIRECTORY (may be NULL). NULL if memory is short. */
const char *name_cache_path(struct name_cache *cache, const char *directory,
                            const char *file);

/* Free the tables. The store is the caller's. */
void name_cache_free(struct name_cache *cache);

#endif
