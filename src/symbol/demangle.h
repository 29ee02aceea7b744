/* SPDX-License-Identifier: MIT */
/*
 * demangle.h -- the source-level spelling of names in a symbol table: C++, Rust
 * (legacy and v0) and D.
 */
#ifndef SYMBOL_DEMANGLE_H
#define SYMBOL_DEMANGLE_H

enum demangle_form {
    DEMANGLE_FULL, /* with parameters, return type and template arguments */
    /* Without these. Default arguments of the standard library's templates are
     * left out, and a long list of arguments becomes "...". */
    DEMANGLE_SHORT,
};

/* Returns NAME as its programmer knows it; the caller frees it. NULL if NAME is
 * not mangled, is too long, or memory is short. */
char *demangle(const char *name, enum demangle_form form);

#endif
