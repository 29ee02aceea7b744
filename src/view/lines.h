/* SPDX-License-Identifier: MIT */
/*
 * lines.h -- the lines of some functions, with what was spent there. Annotated
 * source is made from them.
 */
#ifndef VIEW_LINES_H
#define VIEW_LINES_H

#include <stddef.h>

#include "table.h"

/*
 * Collect the lines of the functions that TEXT selects (match.h; NULL: of all),
 * in the order of function, module, file and line. Returns 0, or -1 with a
 * sentence in ERROR (of SIZE bytes). PROFILE must outlive LINES, which
 * table_release releases.
 */
int lines_build(struct table *lines, struct profile *profile, const char *text,
                char *error, size_t size);

/* The number of rows from FIRST on of the same function in the same file. */
uint32_t lines_of_function(const struct table *lines, uint32_t first);

/* The lines of source that show COUNT rows of one function from ROW on: *FIRST
 * to *LAST. They begin with its declaration, or a little before the first row;
 * they end a little after the last. */
void lines_range(const struct table_row *row, uint32_t count, unsigned *first,
                 unsigned *last);

#endif
