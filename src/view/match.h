/* SPDX-License-Identifier: MIT */
/*
 * match.h -- selects functions by a text: the one with exactly this name, or
 * else those that the text matches as a POSIX extended regular expression. So
 * "main" is one function, "foo(int)" needs no backslashes, and "^foo" selects
 * all that begin with it. Then it finds which functions call these, and what
 * they call, each as one tree with the selected functions at its top.
 */
#ifndef VIEW_MATCH_H
#define VIEW_MATCH_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

struct tree;

struct match {
    const char *text;
    bool is_exact;
    regex_t regex; /* unless it is exact */
};

/* Find the functions of TREE that TEXT selects. Returns 0, or -1 with a
 * sentence in ERROR (of SIZE bytes): none is selected, or the expression is
 * wrong. TEXT must outlive MATCH. */
int match_begin(struct match *match, const struct tree *tree, const char *text,
                char *error, size_t size);

/* Whether MATCH selects FUNCTION. */
bool match_is(const struct match *match, const char *function);

/* To be called once after a match_begin that returned 0. */
void match_end(struct match *match);

/*
 * The stacks of TREE (TREE_FUNCTIONS) with these functions, upside down. NULL
 * with errno set if memory is short. From
 *
 *   main -> a -> f -> x   2
 *   main -> b -> f        3
 *
 * it makes the tree f -> a -> main 2, f -> b -> main 3. A stack in which the
 * function occurs several times counts once, from the call nearest to the root:
 * the caller that began it is wanted.
 */
struct tree *match_callers(const struct tree *tree, const struct match *match);

/* As match_callers: everything below these functions, wherever they were called
 * from. A function below itself is one of its own callees, and counts once. */
struct tree *match_callees(const struct tree *tree, const struct match *match);

#endif
