/* SPDX-License-Identifier: MIT */
/* tree_text.h -- a call tree as text for people. */
#ifndef SHOW_TREE_TEXT_H
#define SHOW_TREE_TEXT_H

#include "text_report.h"

struct branches;
struct tree;

/* Print BRANCHES of TREE, with percentages of PROFILE's totals. CALLERS: it is
 * a tree of callers (view/callers.h). Returns 0, or -1 with errno set if memory
 * is short. */
int tree_text_write(FILE *stream, const struct profile *profile,
                    const struct tree *tree, const struct branches *branches,
                    bool callers, const struct text_report_options *options);

#endif
