/* SPDX-License-Identifier: MIT */
/* diff_text.h -- a comparison (view/diff.h) as text for people. */
#ifndef SHOW_DIFF_TEXT_H
#define SHOW_DIFF_TEXT_H

#include "view/diff.h"
#include "text_report.h"

/* Print what is compared. Then come at most OPTIONS->rows rows (0: all) that
 * became slower, the same for faster ones and, if ALL, for the rest. */
void diff_text_write(FILE *stream, const struct diff *diff,
                     const struct profile *old, const struct profile *new,
                     const struct diff_options *test, bool all,
                     const struct text_report_options *options);

/* Print the name of ROW in at most COLUMNS (0: any number): "work (app)", or
 * for a stack, the leaf first, "work < run < main". */
void diff_text_name(FILE *stream, const struct diff *diff,
                    const struct diff_row *row, enum measure_by by,
                    unsigned columns);

#endif
