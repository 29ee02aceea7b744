/* SPDX-License-Identifier: MIT */
/* flame_text.h -- a tree as a flame graph for a terminal, the root at the top.
 */
#ifndef SHOW_FLAME_TEXT_H
#define SHOW_FLAME_TEXT_H

#include "text_report.h"

struct branches;
struct tree;

/* Columns of a flame graph without a terminal. */
enum { FLAME_TEXT_COLUMNS = 100 };

/* Print BRANCHES of TREE; OPTIONS give columns, paint and value. Returns 0, or
 * -1 with errno set if memory is short. */
int flame_text_write(FILE *stream, const struct profile *profile,
                     const struct tree *tree, const struct branches *branches,
                     const struct text_report_options *options);

#endif
