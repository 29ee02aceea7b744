/* SPDX-License-Identifier: MIT */
/* table_data.h -- tables and trees of a report for programs (data.h). The keys
 * are documented in docs/sprofile.md and do not change. */
#ifndef SHOW_TABLE_DATA_H
#define SHOW_TABLE_DATA_H

#include "view/table.h"
#include "data.h"

struct branches;
struct tree;

/* Write the first ROWS (0: all) rows of TABLE, which was built by BY and sorted
 * by VALUE. */
void table_data_write(FILE *stream, enum data_format format,
                      const struct profile *profile, const struct table *table,
                      enum table_by by, enum value value, uint32_t rows);

/* Write the first ROWS (0: all) BRANCHES of TREE, one row for each. Parents
 * come before their children; a row has the id of its parent, 0 for none. WORD
 * names the report: "tree" or "callers". */
void table_data_write_tree(FILE *stream, enum data_format format,
                           const struct profile *profile,
                           const struct tree *tree,
                           const struct branches *branches, const char *word,
                           enum value value, uint32_t rows);

#endif
