/* SPDX-License-Identifier: MIT */
/* fit.h -- texts that are no wider than a terminal. A character counts as one
 * column; names are clean (profile/clean.h), so there is nothing else in them.
 */
#ifndef WRITE_FIT_H
#define WRITE_FIT_H

#include <stdio.h>

/* The columns that TEXT takes. */
unsigned fit_width(const char *text);

/* Print TEXT in at most COLUMNS (0: any number); what is too long ends with
 * "...". */
void fit_print(FILE *stream, const char *text, unsigned columns);

/* The same for a function and, in brackets, its module (may be ""), which gives
 * way first. */
void fit_print_function(FILE *stream, const char *function, const char *module,
                        unsigned columns);

#endif
