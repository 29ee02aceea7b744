/* SPDX-License-Identifier: MIT */
/*
 * spell.c -- see spell.h. Strings of a profile are interned, so a linkage name
 * is recognised by its address, and each is demangled once.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/address_table.h"
#include "symbol/demangle.h"
#include "profile.h"
#include "spell.h"

/* The text behind a function's name in the name of the linker's stub for
 * it. */
static const char stub[] = "@plt";

/* LINKAGE demangled, for the caller to free. NULL if it is not mangled or
 * memory is short. */
static char *
demangle_name(const char *linkage, enum demangle_form form)
{
    size_t length = strcspn(linkage, "@");
    char *whole = NULL;
    if (strcmp(linkage + length, stub) != 0)
        return demangle(linkage, form);
    char *plain = strndup(linkage, length);
    char *name = plain != NULL ? demangle(plain, form) : NULL;
    if (name != NULL && asprintf(&whole, "%s%s", name, stub) < 0)
        whole = NULL;
    free(name);
    free(plain);
    return whole;
}

/* Most names of C programs are not mangled; they take no place in the table. */
const char *
spell_function(struct profile *profile, const char *name, const char *linkage)
{
    uintptr_t key = (uintptr_t)linkage;
    if (linkage[0] != '_')
        return name;
    if (profile->spelled == NULL)
        profile->spelled = calloc(1, sizeof(*profile->spelled));
    if (profile->spelled == NULL)
        return NULL;
    void **place = address_table_place(profile->spelled, 0, key);
    if (place == NULL || *place != NULL)
        return place != NULL ? *place : NULL;
    char *text = demangle_name(linkage, profile->full_names ? DEMANGLE_FULL
                                                            : DEMANGLE_SHORT);
    if (text == NULL)
        return name;
    *place = (void *)profile_string(profile, text);
    free(text);
    return *place;
}
