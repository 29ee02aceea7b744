/* SPDX-License-Identifier: MIT */
/*
 * spell.c -- see spell.h. Strings of a profile are interned, so that a linkage
 * name is known by its address; each is demangled once.
 */
#include "spell.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/address_table.h"
#include "symbol/demangle.h"

#include "profile.h"

/* What the linker's stubs for other functions are called behind their names. */
static const char stub[] = "@plt";

/* LINKAGE demangled, to be freed; NULL if it is not mangled or memory is
 * short. */
static char *
spell(const char *linkage, enum demangle_form form)
{
    size_t length = strcspn(linkage, "@");
    char *plain, *name, *whole = NULL;

    if (strcmp(linkage + length, stub) != 0)
        return demangle(linkage, form);
    plain = strndup(linkage, length);
    name = plain != NULL ? demangle(plain, form) : NULL;
    if (name != NULL && asprintf(&whole, "%s%s", name, stub) < 0)
        whole = NULL;
    free(name);
    free(plain);
    return whole;
}

/* Most names of C programs are not mangled: they take no place in the table. */
const char *
spell_function(struct profile *profile, const char *name, const char *linkage)
{
    uintptr_t key = (uintptr_t)linkage;
    const char *known;
    char *text;

    if (linkage[0] != '_')
        return name;
    if (profile->spelled == NULL)
        profile->spelled = calloc(1, sizeof *profile->spelled);
    if (profile->spelled == NULL)
        return NULL;
    known = address_table_find(profile->spelled, 0, key);
    if (known != NULL)
        return known;
    text = spell(linkage, profile->full_names ? DEMANGLE_FULL : DEMANGLE_SHORT);
    if (text == NULL)
        return name;
    known = profile_string(profile, text);
    free(text);
    if (known == NULL ||
        address_table_put(profile->spelled, 0, key, (void *)known) < 0)
        return NULL;
    return known;
}

void
spell_end(struct profile *profile)
{
    if (profile->spelled != NULL)
        address_table_free(profile->spelled);
    free(profile->spelled);
    profile->spelled = NULL;
}
