/* SPDX-License-Identifier: MIT */
/*
 * data_report.h -- tables, trees and comparisons for programs, as CSV (the rows
 * alone) or JSON. Keys are documented in docs/sprofile.md and do not change.
 * JSON has the head of the report before its rows:
 *
 *   "processes": [{"pid", "exe", "command", "host", "start_ns", "duration_ns",
 *                  "ended"}, ...],
 *   "start_ns", "duration_ns",          (since the epoch)
 *   "filter": null or a text,
 *   "totals": {"cpu_ns", "wall_ns", "samples"},
 *   "unfiltered": the same before the filter,
 *   "asked", "taken",
 *   "due", "reached_hz", "unasked": {cause: samples},  (null if unknown)
 *   "unseen_cpu_ns", "tree_cpu_ns",     (only if there is unseen time)
 *   "lost": {cause: samples}, "cut": {cause: stacks}
 */
#ifndef SHOW_DATA_REPORT_H
#define SHOW_DATA_REPORT_H

#include "text_report.h"

/* Write TABLE, which was built by OPTIONS->by, to STREAM. The format is CSV or
 * JSON. Columns and colours do not count. */
void data_report_table(FILE *stream, const struct profile *profile,
                       const struct table *table,
                       const struct text_report_options *options);

/* Write BRANCHES of TREE, one row for each. Parents come before their children;
 * a row has the id of its parent, 0 for none. WORD names the report: "tree" or
 * "callers". */
void data_report_tree(FILE *stream, const struct profile *profile,
                      const struct tree *tree, const struct branches *branches,
                      const char *word,
                      const struct text_report_options *options);

/* Write a comparison. ALL: also rows that are not significant. */
void data_report_diff(FILE *stream, const struct diff *diff,
                      const struct profile *old, const struct profile *new,
                      const struct diff_options *test, bool all,
                      const struct text_report_options *options);

#endif
