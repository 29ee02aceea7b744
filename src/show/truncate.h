/* SPDX-License-Identifier: MIT */
/* truncate.h -- texts that are no wider than a terminal. A character counts as
 * one column. Names are clean (util/clean.h), so they have no control
 * characters.
 */
#ifndef SHOW_TRUNCATE_H
#define SHOW_TRUNCATE_H

#include <stdio.h>

/* The columns that TEXT takes. */
unsigned truncate_width(const char *text);

/* Print TEXT in at most COLUMNS (0: any number). A text that is too long ends
 * with "...". */
void truncate_text(FILE *stream, const char *text, unsigned columns);

/* Print NAME in at most COLUMNS (0: any number). The end of a name matters as
 * much as its beginning, so "..." is put in the middle. */
void truncate_name(FILE *stream, const char *name, unsigned columns);

/* Print the first COLUMNS of TEXT, without "...". */
void truncate_start(FILE *stream, const char *text, unsigned columns);

/* Print FUNCTION and, in brackets, MODULE (may be "") in at most COLUMNS (0:
 * any number). The middle of the function is cut. If too little of it would be
 * left, the module is left out. */
void truncate_function(FILE *stream, const char *function, const char *module,
                       unsigned columns);

/* The same with PLACE, such as "file.c:12", after the function. If both do not
 * fit, only the place is printed. */
void truncate_line(FILE *stream, const char *function, const char *place,
                   const char *module, unsigned columns);

#endif
