/* SPDX-License-Identifier: MIT */
/*
 * own_lines.h -- the lines of a program's own Python files. A user looks for
 * the line that he can change. Most time is spent below it, in libraries.
 */
#ifndef VIEW_OWN_LINES_H
#define VIEW_OWN_LINES_H

#include "table.h"

/*
 * Make the rows of PROFILE's own lines, those with the most flat VALUE first.
 * FLAT is of the stacks whose innermost own line is this one, so all rows
 * together count each stack once. CUMULATIVE is 0. A file is the
 * program's own unless it belongs to Python or to an installed package. Returns
 * 0, or -1 with errno set if memory is short. PROFILE must outlive TABLE, which
 * table_release releases.
 */
int own_lines_build(struct table *table, struct profile *profile,
                    enum value value);

#endif
