/* SPDX-License-Identifier: MIT */
/*
 * demangle.c -- libiberty's demanglers behind one function. Report side.
 *
 * Only names that can be mangled reach a demangler. "main" would come back
 * unchanged, and a C function called "_Delay" must not be taken for a D name. A
 * compiler's suffix for a clone (".part.0", ".cold") stays visible. C++ names
 * get " [clone .cold]"; C names keep the suffix as it is. Rust's hash is never
 * shown.
 */
#include <libiberty/demangle.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "name_text.h"
#include "name_tree.h"
#include "demangle.h"

/* Longest name that is demangled, in bytes. A longer name is shown as it is: a
 * mangled name of a few KiB can stand for a text of any length. */
#define LONGEST_NAME 8192

#define STYLE (DMGL_PARAMS | DMGL_ANSI)

static bool
is_d(const char *name)
{
    return strcmp(name, "_Dmain") == 0 ||
           (strncmp(name, "_D", 2) == 0 && name[2] >= '1' && name[2] <= '9');
}

static char *
demangle_d(const char *name, enum demangle_form form)
{
    char *text = dlang_demangle(name, STYLE);
    if (text != NULL && form == DEMANGLE_SHORT)
        name_text_shorten_d(text);
    return text;
}

/* Rust's older names look like C++ ones. */
static char *
demangle_rust(const char *name, enum demangle_form form)
{
    char *text = rust_demangle(name, STYLE);
    if (text != NULL && form == DEMANGLE_SHORT)
        name_text_shorten_rust(text);
    return text;
}

static char *
demangle_cplus(const char *name, enum demangle_form form)
{
    return form == DEMANGLE_SHORT ? name_tree_short(name)
                                  : cplus_demangle_v3(name, STYLE);
}

char *
demangle(const char *name, enum demangle_form form)
{
    if (name[0] != '_' || strnlen(name, LONGEST_NAME) == LONGEST_NAME)
        return NULL;
    if (is_d(name))
        return demangle_d(name, form);
    /* Some compilers put a second underscore in front. */
    if (strncmp(name, "__Z", 3) == 0 || strncmp(name, "__R", 3) == 0)
        name++;
    if (name[1] != 'Z' && name[1] != 'R')
        return NULL;
    char *text = demangle_rust(name, form);
    return text != NULL || name[1] == 'R' ? text : demangle_cplus(name, form);
}
