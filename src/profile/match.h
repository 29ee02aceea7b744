/* SPDX-License-Identifier: MIT */
/*
 * match.h -- the functions that somebody means: the one of exactly this name,
 * or else those that the text matches as a regular expression (POSIX,
 * extended). So "main" is one function, "foo(int)" needs no backslashes, and
 * "^foo" are all that begin so.
 */
#ifndef PROFILE_MATCH_H
#define PROFILE_MATCH_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

struct tree;

struct match {
    const char *text;
    bool is_exact;
    regex_t regex; /* unless it is exact */
};

/* Find out what TEXT means among the functions of TREE. Returns 0, or -1 with a
 * sentence in ERROR (of SIZE bytes): there is none, or the expression is wrong.
 * TEXT must outlive MATCH. */
int match_begin(struct match *match, const struct tree *tree, const char *text,
                char *error, size_t size);

bool match_is(const struct match *match, const char *function);

void match_end(struct match *match);

#endif
