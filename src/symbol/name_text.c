/* SPDX-License-Identifier: MIT */
/*
 * name_text.c -- see name_text.h. Report side.
 *
 * In Rust's and D's names every bracket is a real bracket, except the ">" of
 * "->". D has "<" only in texts. Rust's demangler writes no parameters. The
 * short text is never longer than the name, so it is made in place.
 */
#include <stdbool.h>
#include <string.h>

#include "name_tree.h"
#include "name_text.h"

static bool
is_word(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || byte == '_' || (byte & 0x80) != 0;
}

/* Returns the place behind the bracket that closes the one at OPEN, or the end
 * if there is none. OPENING and CLOSING list the brackets. */
static char *
behind_bracket(char *open, const char *opening, const char *closing)
{
    unsigned depth = 0;
    char *at;
    for (at = open; *at != '\0'; at++) {
        if (strchr(opening, *at) != NULL)
            depth++;
        else if (*at == '>' && at > open && at[-1] == '-')
            continue;
        else if (strchr(closing, *at) != NULL && --depth == 0)
            return at + 1;
    }
    return at;
}

/* Whether the "<" at OPEN in NAME begins arguments. It then follows a name or
 * "::", and "impl" does not follow it. */
static bool
begins_arguments(const char *name, const char *open)
{
    return open > name && (is_word(open[-1]) || open[-1] == ':') &&
           strncmp(open, "<impl ", 6) != 0;
}

/* Inner lists are shortened first, so that outer ones may stay. One pass from
 * the end finds them, because a list begins behind the one around it. */
void
name_text_shorten_rust(char *name)
{
    for (char *at = name + strlen(name); at > name; at--) {
        char *open = at - 1;
        if (*open != '<' || !begins_arguments(name, open))
            continue;
        char *end = behind_bracket(open, "<([{", ">)]}");
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
    char *to = name;
    for (char *from = name, *end; *from != '\0'; from = end) {
        bool is_list = *from == '(';
        bool has_mark = from > name && from[-1] == '!';
        end = is_list ? behind_bracket(from, "([{", ")]}") : from + 1;
        if (is_list && !has_mark) {
            /* Only a member of the function can follow its parameters. */
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
