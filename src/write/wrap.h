/* SPDX-License-Identifier: MIT */
/* wrap.h -- lines that are broken between words where they would be wider than
 * a terminal. */
#ifndef WRITE_WRAP_H
#define WRITE_WRAP_H

#include <stdio.h>

struct wrap {
    FILE *stream;
    unsigned columns;
    unsigned indent; /* blanks before the first line */
    unsigned hang;   /* and so many more before the others */
    unsigned at;     /* column; to begin with 0: nothing stands there yet */
};

/* Print WORD, in a new line if it does not fit. Nothing ends the last line. */
void wrap_word(struct wrap *wrap, const char *word);

/* The same for the words of TEXT, which blanks separate. */
void wrap_text(struct wrap *wrap, const char *text);

#endif
