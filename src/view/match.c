/* SPDX-License-Identifier: MIT */
/* match.c -- see match.h. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "tree.h"
#include "match.h"

bool
match_is(const struct match *match, const char *function)
{
    return match->is_exact ? strcmp(match->text, function) == 0
                           : regexec(&match->regex, function, 0, NULL, 0) == 0;
}

/* Whether MATCH selects any function of TREE. */
static bool
has_any(const struct match *match, const struct tree *tree)
{
    for (uint32_t i = 0; i < tree_name_count(tree); i++)
        if (match_is(match, tree_name(tree, i)))
            return true;
    return false;
}

/* The literal name comes first: "operator+" as an expression would
 * mean another one. */
int
match_begin(struct match *match, const struct tree *tree, const char *text,
            char *error, size_t size)
{
    *match = (struct match){.text = text, .is_exact = true};
    if (has_any(match, tree))
        return 0;
    match->is_exact = false;
    int wrong = regcomp(&match->regex, text, REG_EXTENDED | REG_NOSUB);
    if (wrong != 0) {
        char reason[256];
        regerror(wrong, &match->regex, reason, sizeof(reason));
        snprintf(error, size, "%s: no function has this name, and: %s", text,
                 reason);
        return -1;
    }
    if (has_any(match, tree))
        return 0;
    regfree(&match->regex);
    snprintf(error, size, "%s: no function in the profile has or matches this",
             text);
    return -1;
}

void
match_end(struct match *match)
{
    if (!match->is_exact)
        regfree(&match->regex);
}
