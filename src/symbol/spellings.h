/* SPDX-License-Identifier: MIT */
/*
 * spellings.h -- names and paths of files as they are shown, each put together
 * once. What is asked for must stay where it is, as it does in an image that is
 * open. Report side.
 */
#ifndef SYMBOL_SPELLINGS_H
#define SYMBOL_SPELLINGS_H

#include "address_table.h"
#include "answer_store.h"
#include "demangle.h"

/* A name of a symbol table and what its programmer calls it. */
struct spelling {
    const char *linkage, *function;
};

/* All zero but for STORE, which has what was put together, and FORM. */
struct spellings {
    struct answer_store *store;
    enum demangle_form form;         /* of names of functions */
    struct address_table by_linkage; /* (0, linkage): struct spelling */
    /* The same by where a name lies in its file, and full paths by where their
     * last part does: what is asked again and again is not hashed again. */
    struct address_table names; /* (0, name): struct spelling */
    struct address_table paths; /* (0, file): struct path */
};

/* That of NAME, which may have a version ("@GLIBC_2.34"). NULL if memory is
 * short. */
const struct spelling *spellings_name(struct spellings *spellings,
                                      const char *name);

/* FILE in DIRECTORY (may be NULL). NULL if memory is short. */
const char *spellings_path(struct spellings *spellings, const char *directory,
                           const char *file);

/* The store is the caller's. */
void spellings_free(struct spellings *spellings);

#endif
