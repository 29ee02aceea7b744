/* SPDX-License-Identifier: MIT */
/* table_data.h -- tables and trees of a report for programs (data.h). The keys
 * are documented in docs/sprofile.md and stay what they are. */
#ifndef WRITE_TABLE_DATA_H
#define WRITE_TABLE_DATA_H

#include "profile/table.h"

#include "data.h"

struct branches;
struct tree;

/* The first ROWS (0: all) rows of TABLE, which are of BY, sorted by VALUE. */
void table_data_write(FILE *stream, enum data_format format,
                      const struct profile *profile, const struct table *table,
                      enum table_by by, enum value value, uint32_t rows);

/* The first ROWS (0: all) BRANCHES of TREE: a row for each, in the order of a
 * reader, with the id of its parent, 0 for none. WORD says what it is: "tree"
 * or "callers". */
void table_data_write_tree(FILE *stream, enum data_format format,
                           const struct profile *profile,
                           const struct tree *tree,
                           const struct branches *branches, const char *word,
                           enum value value, uint32_t rows);

#endif
