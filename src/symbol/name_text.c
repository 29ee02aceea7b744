/* SPDX-License-Identifier: MIT */
/*
 * name_text.c -- see name_text.h. Report side.
 *
 * In Rust's and D's names a bracket is a bracket, only the ">" of "->" is none;
 * D has "<" in texts alone.
 * Rust's demangler writes no parameters. A short text is never longer than the
 * name, so that it is made in place.
 */
#include <stdbool.h>
#include <string.h>

#include "name_text.h"
#include "name_tree.h"

static bool
is_word(char byte)
{
    return ((byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
            (byte >= '0' && byte <= '9') || byte == '_' || (byte & 0x80) != 0);
}

/* Behind the bracket that closes the one at OPEN; the end if there is none.
 * Brackets are those in OPENING and in CLOSING. */
static char *
behind_bracket(char *open, const char *opening, const char *closing)
{
    unsigned depth = 0;
    char *at;

    for (at = open; *at != '\0'; at++) {
        if (strchr(opening, *at))
            depth++;
        else if (*at == '>' && at > open && at[-1] == '-')
            continue;
        else if (strchr(closing, *at) && --depth == 0)
            return (at + 1);
    }
    return (at);
}

/* Whether the "<" at OPEN in NAME begins arguments: it follows a name or "::",
 * and "impl" does not follow it. */
static bool
begins_arguments(const char *name, const char *open)
{
    return (open > name && (is_word(open[-1]) || open[-1] == ':') &&
            strncmp(open, "<impl ", 6) != 0);
}

/* Inner lists are shortened first, so that outer ones may stay. One pass from
 * the end finds them: a list begins behind the one that it is in. */
void
name_text_shorten_rust(char *name)
{
    for (char *at = name + strlen(name); at > name; at--) {
        char *open = at - 1, *end;
        if (*open != '<' || !begins_arguments(name, open))
            continue;
        end = behind_bracket(open, "<([{", ">)]}");
        if (end[-1] != '>' || end - open - 2 <= NAME_ARGUMENTS_MOST)
            continue;
        memcpy(open + 1, "...", 3);
        memmove(open + 4, end - 1, strlen(end - 1) + 1);
    }
}

/* Parameters are in parentheses that do not follow "!". */
void
name_text_shorten_d(char *name)
{
    char *to = name, *end;

    for (char *from = name; *from != '\0'; from = end) {
        bool is_list = *from == '(';
        bool has_mark = from > name && from[-1] == '!';

        end = is_list ? behind_bracket(from, "([{", ")]}") : from + 1;
        if (is_list && !has_mark) {
            /* Only a member of the function goes on behind its parameters. */
            if (*end != '.' && *end != '\0')
                end += strlen(end);
            continue;
        }
        if (is_list && end - from - 2 > NAME_ARGUMENTS_MOST) {
            memcpy(to, "(...)", 5);
            to += 5;
            continue;
        }
        memmove(to, from, (size_t)(end - from));
        to += end - from;
    }
    *to = '\0';
}
