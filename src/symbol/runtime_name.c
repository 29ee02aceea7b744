/* SPDX-License-Identifier: MIT */
/* runtime_name.c -- see runtime_name.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digits.h"
#include "base/path.h"
#include "python_names.h"
#include "runtime_name.h"

/* A part of a name. TEXT has no terminator. */
struct part {
    const char *text;
    size_t length;
};

/* Keep PART in STORE. NULL if memory is short. */
static const char *
keep_part(struct intern *store, struct part part)
{
    return intern_format(store, "%.*s", (int)part.length, part.text);
}

/* Cut ":NUMBER" off the end of PLACE and return NUMBER. 0 if it has none. */
static unsigned
cut_number(struct part *place)
{
    size_t at = place->length;
    while (at > 0 && place->text[at - 1] >= '0' && place->text[at - 1] <= '9')
        at--;
    if (at == 0 || at == place->length || place->text[at - 1] != ':')
        return 0;
    const char *digits = place->text + at;
    uint64_t number = digits_take(&digits);
    place->length = at - 1;
    return number < 1u << 31 ? (unsigned)number : 0;
}

/* Find the beginning of FILE in V8's "NAME FILE:LINE:COLUMN". NULL if it is not
 * found. Both NAME and FILE may contain blanks ("get size", "my files/t.js"),
 * but a name seldom contains the beginning of a FILE. */
static const char *
find_place(const char *text)
{
    static const char *const beginnings[] = {" /", " file:", " node:"};
    const char *found = NULL;
    for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++) {
        const char *at = strstr(text, beginnings[i]);
        if (at != NULL && (found == NULL || at < found))
            found = at;
    }
    if (found == NULL)
        found = strrchr(text, ' ');
    return found != NULL ? found + 1 : NULL;
}

/* TEXT is "*NAME FILE:LINE:COLUMN". */
static int
split_v8(struct intern *store, const char *text, struct symbol_frame *frame)
{
    const char *start =
        text + (*text != '\0' && strchr("~^+-*", *text) != NULL ? 1 : 0);
    const char *found = find_place(start);
    struct part name = {start, found != NULL ? (size_t)(found - 1 - start) : 0};
    struct part place = {found, found != NULL ? strlen(found) : 0};
    /* The column comes last. A single number is the line. */
    unsigned line;
    if (found == NULL || (line = cut_number(&place)) == 0)
        return 0;
    frame->start_line = cut_number(&place);
    if (frame->start_line == 0)
        frame->start_line = line;
    frame->file = keep_part(store, place);
    /* Functions without a name are distinguished by their places. */
    frame->function = name.length == 0 ? intern_format(store, "(anonymous %s)",
                                                       path_name(found))
                                       : keep_part(store, name);
    return frame->function != NULL && frame->file != NULL ? 0 : -1;
}

/* TEXT is "NAME:FILE". The shown name has the module in it, as in frames that
 * the interpreter keeps. */
static int
split_python(struct intern *store, const char *text, struct symbol_frame *frame)
{
    char full[2 * RUNTIME_NAME_MOST];
    const char *colon = strchr(text, ':');
    if (colon == NULL || colon == text)
        return 0;
    const char *name =
        keep_part(store, (struct part){text, (size_t)(colon - text)});
    if (name == NULL)
        return -1;
    python_names_full(colon + 1, name, full, sizeof(full));
    frame->function = intern_text(store, full);
    frame->file = intern_text(store, colon + 1);
    return frame->function != NULL && frame->file != NULL ? 0 : -1;
}

/* TEXT is "7::FILE:LINE". The trace's own name stays whole. */
static int
split_luajit(struct intern *store, const char *text, struct symbol_frame *frame)
{
    const char *found = strstr(text, "::");
    struct part place = {found != NULL ? found + 2 : text, 0};
    if (found == NULL)
        return 0;
    place.length = strlen(place.text);
    frame->start_line = cut_number(&place);
    if (frame->start_line == 0)
        return 0;
    frame->file = keep_part(store, place);
    return frame->file != NULL ? 0 : -1;
}

/* TEXT is "com/foo/Bar;::baz". */
static int
split_java(struct intern *store, const char *text, struct symbol_frame *frame)
{
    const char *semicolon = strstr(text, ";::");
    if (semicolon == NULL)
        return 0;
    char *name;
    if (asprintf(&name, "%.*s.%s", (int)(semicolon - text), text,
                 semicolon + 3) < 0)
        return -1;
    for (char *at = name; at < name + (semicolon - text); at++)
        if (*at == '/')
            *at = '.';
    frame->function = intern_text(store, name);
    free(name);
    return frame->function != NULL ? 0 : -1;
}

/* The runtimes by the beginning of their names. Each function leaves the frame
 * alone if the rest does not have the form it expects. */
static const struct {
    const char *prefix;
    int (*split)(struct intern *, const char *, struct symbol_frame *);
} forms[] = {
    {"JS:", split_v8},        {"LazyCompile:", split_v8},
    {"Function:", split_v8},  {"Script:", split_v8},
    {"Eval:", split_v8},      {"py::", split_python},
    {"TRACE_", split_luajit}, {"L", split_java},
};

int
runtime_name_split(struct intern *store, const char *name,
                   struct symbol_frame *frame)
{
    *frame = (struct symbol_frame){.file = ""};
    frame->function = frame->linkage = intern_text(store, name);
    if (frame->linkage == NULL)
        return -1;
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        size_t length = strlen(forms[i].prefix);
        if (strncmp(name, forms[i].prefix, length) == 0)
            return forms[i].split(store, name + length, frame);
    }
    return 0;
}

bool
runtime_name_is_v8(const char *name)
{
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
        if (forms[i].split == split_v8 &&
            strncmp(name, forms[i].prefix, strlen(forms[i].prefix)) == 0)
            return true;
    return false;
}
