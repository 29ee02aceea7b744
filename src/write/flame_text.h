/* SPDX-License-Identifier: MIT */
/* flame_text.h -- a tree as a flame graph for a terminal, the root at the top.
 */
#ifndef WRITE_FLAME_TEXT_H
#define WRITE_FLAME_TEXT_H

#include "text_report.h"

struct branches;
struct tree;

/* The columns of a flame graph that no terminal limits. */
enum { FLAME_TEXT_COLUMNS = 100 };

/* Print BRANCHES of TREE as OPTIONS say (columns, paint and value). Returns 0,
 * or -1 with errno set if memory is short. */
int flame_text_write(FILE *stream, const struct profile *profile,
                     const struct tree *tree, const struct branches *branches,
                     const struct text_report_options *options);

#endif
