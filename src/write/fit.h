/* SPDX-License-Identifier: MIT */
/* fit.h -- texts that are no wider than a terminal. A character counts as one
 * column; names are clean (profile/clean.h), so there is nothing else in them.
 */
#ifndef WRITE_FIT_H
#define WRITE_FIT_H

#include <stdio.h>

/* The columns that TEXT takes. */
unsigned fit_width(const char *text);

/* Print TEXT, which is read from its beginning, in at most COLUMNS (0: any
 * number); what is too long ends with "...". */
void fit_print(FILE *stream, const char *text, unsigned columns);

/* The same for a name, whose end tells as much as its beginning: "..." is in
 * its middle. */
void fit_print_name(FILE *stream, const char *name, unsigned columns);

/* The first COLUMNS of TEXT, without "...". */
void fit_print_start(FILE *stream, const char *text, unsigned columns);

/* The columns of fit_print_function and fit_print_line without a limit. */
unsigned fit_function_width(const char *function, const char *module);

/* The same for a function and, in brackets, its module (may be ""). The
 * function's middle gives way; where too little of it would be left, the module
 * does. */
void fit_print_function(FILE *stream, const char *function, const char *module,
                        unsigned columns);

/* The same with PLACE, "file.c:12", behind the function; a place is never cut:
 * the line is longer then. */
void fit_print_line(FILE *stream, const char *function, const char *place,
                    const char *module, unsigned columns);

#endif
