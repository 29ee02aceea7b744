/* SPDX-License-Identifier: MIT */
/* wrap.h -- lines that are broken between words if they would be wider than a
 * terminal. */
#ifndef SHOW_WRAP_H
#define SHOW_WRAP_H

#include <stdio.h>

struct wrap {
    FILE *stream;
    unsigned columns;
    unsigned indent; /* blanks before the first line */
    unsigned hang;   /* additional blanks before the other lines */
    unsigned at;     /* column; 0 before the first word */
};

/* Print WORD, in a new line if it does not fit. The caller ends the last line.
 */
void wrap_word(struct wrap *wrap, const char *word);

/* The same for each word of TEXT; blanks separate the words. */
void wrap_text(struct wrap *wrap, const char *text);

#endif
