/* SPDX-License-Identifier: MIT */
/*
 * demangle.h -- source-level spelling of the names in a symbol table: C++, Rust
 * (legacy and v0) and D.
 */
#ifndef SYMBOL_DEMANGLE_H
#define SYMBOL_DEMANGLE_H

enum demangle_form {
    DEMANGLE_FULL,  /* with parameters, return type and template arguments */
    DEMANGLE_SHORT, /* without, see name_tree.h and name_text.h */
};

/* The name as its programmer knows it, to be freed; NULL if NAME is not a
 * mangled one (or memory is short). */
char *demangle(const char *name, enum demangle_form form);

#endif
