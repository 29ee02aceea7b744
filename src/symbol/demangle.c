/* SPDX-License-Identifier: MIT */
/*
 * demangle.c -- libiberty's demanglers behind one function. Report side.
 *
 * Only names that can be mangled are handed over: "main" would come back as it
 * is, and a C function called "_Delay" must not be taken for D. What a
 * compiler appends to a clone (".part.0", ".cold") stays visible: C++ names get
 * " [clone .cold]", C names keep it as it is.
 */
#include <libiberty/demangle.h>
#include <stddef.h>
#include <string.h>

#include "demangle.h"

/* A longer name is shown as it is: the text that a name of a few KiB stands
 * for can be of any length, and nobody reads it. */
#define LONGEST_NAME 8192

#define STYLE (DMGL_PARAMS | DMGL_ANSI)

static int
style_of(const char *name)
{
    if (name[0] != '_')
        return (0);
    if (name[1] == 'Z' || name[1] == 'R' || strncmp(name, "__Z", 3) == 0)
        return (STYLE | DMGL_AUTO);
    if (name[1] == 'D' && name[2] >= '1' && name[2] <= '9')
        return (STYLE | DMGL_DLANG);
    if (strcmp(name, "_Dmain") == 0)
        return (STYLE | DMGL_DLANG);
    return (0);
}

char *
demangle(const char *name)
{
    int style = style_of(name);

    if (style == 0 || strnlen(name, LONGEST_NAME) == LONGEST_NAME)
        return (NULL);
    return (cplus_demangle(name, style));
}
