/* SPDX-License-Identifier: MIT */
/*
 * runtime_name.c -- the forms of names, each with who writes it:
 *
 *   JS:*leaf /tmp/t.js:1:14               V8: leaf, /tmp/t.js, 1
 *   LazyCompile:~leaf /tmp/t.js:1:14      V8 until 9.6: the same
 *   JS:^ /tmp/t.js:7:9                    V8: (anonymous t.js:7:9), ...
 *   py::Outer.leaf:/tmp/t.py              CPython: Outer.leaf, /tmp/t.py
 *   TRACE_7::t.lua:12                     LuaJIT: TRACE_7::t.lua:12, t.lua, 12
 *   Lcom/foo/Bar;::baz                    perf-map-agent: com.foo.Bar.baz
 *   long T.work(long)                     the JVM: as it is
 *   Builtin:ArrayMap, Interpreter         code of the runtime: as it is
 *
 * V8's sign before the name says how far it was compiled: ~ not, ^ and + fast,
 * * in full. One function may have several such codes; they are one function.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digits.h"

#include "runtime_name.h"

/* Parts of a name; without terminators. */
struct part {
    const char *text;
    size_t length;
};

/* NAME behind PREFIX, NULL if it does not begin so. */
static const char *
skip_prefix(const char *name, const char *prefix)
{
    size_t length = strlen(prefix);

    return (strncmp(name, prefix, length) == 0 ? name + length : NULL);
}

/* Keep PART in STORE. NULL if memory is short. */
static const char *
keep(struct answer_store *store, struct part part)
{
    char *text = strndup(part.text, part.length);
    const char *kept = text ? answer_store_string(store, text) : NULL;

    free(text);
    return (kept);
}

/* Take ":NUMBER" off the end of PLACE. Returns 0 if there is none. */
static unsigned
cut_number(struct part *place)
{
    size_t at = place->length;
    const char *digits;
    uint64_t number;

    while (at > 0 && place->text[at - 1] >= '0' && place->text[at - 1] <= '9')
        at--;
    if (at == 0 || at == place->length || place->text[at - 1] != ':')
        return (0);
    digits = place->text + at;
    number = digits_take(&digits);
    place->length = at - 1;
    return (number < 1u << 31 ? (unsigned)number : 0);
}

/* Where in V8's "NAME FILE:LINE:COLUMN" FILE begins; NULL if nothing does. Both
 * may have blanks in them ("get size", "my files/t.js"), but what FILE begins
 * with is seldom in a name. */
static const char *
find_place(const char *text)
{
    static const char *const beginnings[] = {" /", " file:", " node:"};
    const char *found = NULL;

    for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++) {
        const char *at = strstr(text, beginnings[i]);
        if (at && (!found || at < found))
            found = at;
    }
    if (!found)
        found = strrchr(text, ' ');
    return (found ? found + 1 : NULL);
}

/* Functions without a name are told apart by their place. */
static int
name_anonymous(struct answer_store *store, const char *place,
               struct symbol_frame *frame)
{
    const char *slash = strrchr(place, '/');
    char *text;

    if (asprintf(&text, "(anonymous %s)", slash ? slash + 1 : place) < 0)
        return (-1);
    frame->function = answer_store_string(store, text);
    free(text);
    return (frame->function ? 0 : -1);
}

/* TEXT is "*NAME FILE:LINE:COLUMN". */
static int
split_v8(struct answer_store *store, const char *text,
         struct symbol_frame *frame)
{
    const char *start = text + (*text && strchr("~^+-*", *text) ? 1 : 0);
    const char *found = find_place(start);
    struct part name = {start, found ? (size_t)(found - 1 - start) : 0};
    struct part place = {found, found ? strlen(found) : 0};
    unsigned line;

    /* The column first; without one, it was the line. */
    if (!found || (line = cut_number(&place)) == 0)
        return (0);
    frame->start_line = cut_number(&place);
    if (frame->start_line == 0)
        frame->start_line = line;
    frame->file = keep(store, place);
    if (name.length == 0)
        return (name_anonymous(store, found, frame) || !frame->file ? -1 : 0);
    frame->function = keep(store, name);
    return (frame->function && frame->file ? 0 : -1);
}

/* TEXT is "NAME:FILE". */
static int
split_python(struct answer_store *store, const char *text,
             struct symbol_frame *frame)
{
    const char *colon = strchr(text, ':');

    if (!colon || colon == text)
        return (0);
    frame->function = keep(store, (struct part){text, (size_t)(colon - text)});
    frame->file = answer_store_string(store, colon + 1);
    return (frame->function && frame->file ? 0 : -1);
}

/* TEXT is "7::FILE:LINE". The trace's own name stays whole. */
static int
split_luajit(struct answer_store *store, const char *text,
             struct symbol_frame *frame)
{
    const char *found = strstr(text, "::");
    struct part place = {found ? found + 2 : text, 0};

    if (!found)
        return (0);
    place.length = strlen(place.text);
    frame->start_line = cut_number(&place);
    if (frame->start_line == 0)
        return (0);
    frame->file = keep(store, place);
    return (frame->file ? 0 : -1);
}

/* TEXT is "com/foo/Bar;::baz". */
static int
split_java(struct answer_store *store, const char *text,
           struct symbol_frame *frame)
{
    const char *semicolon = strstr(text, ";::");
    char *name;

    if (!semicolon)
        return (0);
    if (asprintf(&name, "%.*s.%s", (int)(semicolon - text), text,
                 semicolon + 3) < 0)
        return (-1);
    for (char *at = name; at < name + (semicolon - text); at++)
        if (*at == '/')
            *at = '.';
    frame->function = answer_store_string(store, name);
    free(name);
    return (frame->function ? 0 : -1);
}

/* Who writes what, by how it begins. Each leaves the frame alone if the rest is
 * not as it expects. */
static const struct {
    const char *prefix;
    int (*split)(struct answer_store *, const char *, struct symbol_frame *);
} forms[] = {
    {"JS:", split_v8},        {"LazyCompile:", split_v8},
    {"Function:", split_v8},  {"Script:", split_v8},
    {"Eval:", split_v8},      {"py::", split_python},
    {"TRACE_", split_luajit}, {"L", split_java},
};

int
runtime_name_split(struct answer_store *store, const char *name,
                   struct symbol_frame *frame)
{
    *frame = (struct symbol_frame){.file = ""};
    frame->function = frame->linkage = answer_store_string(store, name);
    if (!frame->linkage)
        return (-1);
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        const char *rest = skip_prefix(name, forms[i].prefix);
        if (rest)
            return (forms[i].split(store, rest, frame));
    }
    return (0);
}
