/* SPDX-License-Identifier: MIT */
/*
 * prune.c -- the expressions are in Go's syntax, and become POSIX extended
 * ones:
 *
 *   (?:f|\d+?)[\w.]{2}    ^((f|[0-9]+)[[:alnum:]_.]{2})$
 *
 * Expressions without such a form are not understood: flags, classes of
 * Unicode, \A, \Q.
 *
 * The file may come from anywhere. regcomp(3) takes memory with the square of
 * what repetitions make of the expression, and seconds for 100 parentheses in
 * one another. So both are limited.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "prune.h"

/* Limits of the bytes of an expression with its repetitions written out; of its
 * nested parentheses; and of the bytes that one of its bytes becomes. */
enum { BYTES_MOST = 4096, DEPTH_MOST = 20, BYTE_MOST = 12 };

/* An expression that is being translated. */
struct translation {
    const char *from; /* what is left of it */
    char *to;         /* the end of the translation */
    size_t repeated;  /* product of the numbers of repetitions */
    int depth;        /* of parentheses */
};

static void
put(struct translation *translation, const char *text)
{
    translation->to = stpcpy(translation->to, text);
}

static void
put_byte(struct translation *translation, char byte)
{
    put(translation, (const char[]){byte, '\0'});
}

/* Skip TEXT if it comes next. */
static bool
skip(struct translation *translation, const char *text)
{
    size_t length = strlen(text);
    if (strncmp(translation->from, text, length) != 0)
        return false;
    translation->from += length;
    return true;
}

/* Translate what follows a backslash. Before some bytes it is an operator of
 * glibc's, so a byte that stands for itself gets brackets. Returns false if it
 * is not understood, as all functions below do. */
static bool
put_escaped(struct translation *translation)
{
    char byte = *translation->from++;
    if (byte == 'd' || byte == 'D') {
        put(translation, byte == 'd' ? "[0-9]" : "[^0-9]");
    } else if (byte == '^' || byte == '\\' ||
               (byte != '\0' && strchr("wWsSbB", byte) != NULL)) {
        put_byte(translation, '\\');
        put_byte(translation, byte);
    } else if (ispunct((unsigned char)byte)) {
        put_byte(translation, '[');
        put_byte(translation, byte);
        put_byte(translation, ']');
    } else {
        return false;
    }
    return true;
}

/* Add BYTE in brackets, where it stands for itself. */
static void
put_member(struct translation *translation, char byte)
{
    put(translation, "[.");
    put_byte(translation, byte);
    put(translation, ".]");
}

static bool
put_escaped_member(struct translation *translation)
{
    char byte = *translation->from++;
    if (byte == 'd')
        put(translation, "0-9");
    else if (byte == 'w')
        put(translation, "[:alnum:]_");
    else if (byte == 's')
        put(translation, "[:space:]");
    else if (ispunct((unsigned char)byte))
        put_member(translation, byte);
    else
        return false;
    return true;
}

/* Translate what follows a bracket. */
static bool
put_class(struct translation *translation)
{
    put_byte(translation, '[');
    if (skip(translation, "^"))
        put_byte(translation, '^');
    if (skip(translation, "]"))
        put_byte(translation, ']');
    while (!skip(translation, "]")) {
        if (*translation->from == '\0')
            return false;
        if (skip(translation, "\\")) {
            if (!put_escaped_member(translation))
                return false;
        } else if (skip(translation, "[:")) {
            put(translation, "[:");
            while (isalpha((unsigned char)*translation->from))
                put_byte(translation, *translation->from++);
            if (!skip(translation, ":]"))
                return false;
            put(translation, ":]");
        } else if (skip(translation, "[")) {
            put_member(translation, '[');
        } else {
            put_byte(translation, *translation->from++);
        }
    }
    put_byte(translation, ']');
    return true;
}

/* Translate what follows a parenthesis: no group has a number or a name. */
static bool
put_group(struct translation *translation)
{
    put_byte(translation, '(');
    if (++translation->depth > DEPTH_MOST)
        return false;
    if (!skip(translation, "?") || skip(translation, ":"))
        return true;
    if (!skip(translation, "P<") && !skip(translation, "<"))
        return false;
    const char *name = strchr(translation->from, '>');
    if (name == NULL)
        return false;
    translation->from = name + 1;
    return true;
}

/* Translate what follows a brace: it stands for itself unless it is "{2}",
 * "{2,}" or "{2,3}". Returns false if it is a repetition. */
static bool
put_brace(struct translation *translation)
{
    const char *end = translation->from;
    char *after;
    unsigned long least = strtoul(end, &after, 10), most = least;
    bool is_number = isdigit((unsigned char)*end);
    if (is_number && *after == ',' && isdigit((unsigned char)after[1]))
        most = strtoul(after + 1, &after, 10);
    else if (is_number && *after == ',')
        after++;
    if (!is_number || *after != '}') {
        put(translation, "[{]");
        return true;
    }
    if (most > 1)
        translation->repeated *= most < BYTES_MOST ? most : BYTES_MOST + 1;
    if (translation->repeated > BYTES_MOST)
        translation->repeated = BYTES_MOST + 1;
    put_byte(translation, '{');
    while (translation->from <= after)
        put_byte(translation, *translation->from++);
    return false;
}

/* The "?" of "a*?" changes which match is found first, but not what matches. */
static bool
end_repetition(struct translation *translation)
{
    skip(translation, "?");
    char next = *translation->from;
    return next != '*' && next != '+' && next != '?';
}

static bool
put_next(struct translation *translation)
{
    char byte = *translation->from++;
    switch (byte) {
    case '\\':
        return put_escaped(translation);
    case '[':
        return put_class(translation);
    case '(':
        return put_group(translation);
    case '{':
        return put_brace(translation) || end_repetition(translation);
    case '}':
        put(translation, "[}]");
        return true;
    case ')':
        translation->depth--;
        break;
    default:
        break;
    }
    put_byte(translation, byte);
    return translation->depth >= 0 &&
           ((byte != '*' && byte != '+' && byte != '?') ||
            end_repetition(translation));
}

static bool
compile(regex_t *regex, const char *expression)
{
    size_t length = strlen(expression);
    char *text = malloc(BYTE_MOST * (length + 1));
    struct translation translation = {expression, text, 1, 1};
    bool is_understood = text != NULL && length <= BYTES_MOST;
    if (is_understood)
        put(&translation, "^(");
    while (is_understood && *translation.from != '\0')
        is_understood = put_next(&translation);
    if (is_understood)
        put(&translation, ")$");
    is_understood = is_understood && translation.depth == 1 &&
                    length * translation.repeated <= BYTES_MOST &&
                    regcomp(regex, text, REG_EXTENDED | REG_NOSUB) == 0;
    free(text);
    return is_understood;
}

int
prune_begin(struct prune *prune, const char *drop, const char *keep)
{
    if (drop[0] == '\0')
        return 0;
    if (keep[0] != '\0') {
        prune->has_keep = compile(&prune->keep, keep);
        if (!prune->has_keep)
            return -1;
    }
    prune->has_drop = compile(&prune->drop, drop);
    return prune->has_drop ? 0 : -1;
}

/* Where the parameters of NAME begin: "(anonymous namespace)" and "operator()"
 * have none. */
static size_t
length_of(const char *name)
{
    static const char anonymous[] = "(anonymous namespace)",
                      call[] = "operator()";
    size_t before = strlen("operator");
    const char *at = name;
    while ((at = strchr(at, '(')) != NULL) {
        size_t length = (size_t)(at - name);
        if (strncmp(at, anonymous, sizeof(anonymous) - 1) == 0)
            at += sizeof(anonymous) - 1;
        else if (length >= before &&
                 strncmp(at - before, call, sizeof(call) - 1) == 0)
            at += 2;
        else
            return length;
    }
    return strlen(name);
}

static bool
matches(const regex_t *regex, const char *name, size_t length)
{
    regmatch_t range = {0, (regoff_t)length};
    return regexec(regex, name, 1, &range, REG_STARTEND) == 0;
}

/* On PowerPC names of functions begin with a dot. */
bool
prune_is_dropped(const struct prune *prune, const char *function)
{
    if (!prune->has_drop || function[0] == '\0')
        return false;
    function += function[0] == '.';
    size_t length = length_of(function);
    return matches(&prune->drop, function, length) &&
           !(prune->has_keep && matches(&prune->keep, function, length));
}

void
prune_end(struct prune *prune)
{
    if (prune->has_drop)
        regfree(&prune->drop);
    if (prune->has_keep)
        regfree(&prune->keep);
}
