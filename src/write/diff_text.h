/* SPDX-License-Identifier: MIT */
/* diff_text.h -- a comparison (profile/diff.h) as text for people. */
#ifndef WRITE_DIFF_TEXT_H
#define WRITE_DIFF_TEXT_H

#include "profile/diff.h"

#include "text_report.h"

/* What is compared, then at most OPTIONS->rows rows (0: all) of what became
 * slower, of what became faster and, if ALL, of the rest. */
void diff_text_write(FILE *stream, const struct diff *diff,
                     const struct profile *old, const struct profile *new,
                     const struct diff_options *test, bool all,
                     const struct text_report_options *options);

/* The name of a row: "work (app)", or of a stack, the leaf first, "work < run <
 * main". */
void diff_text_name(FILE *stream, const struct diff *diff,
                    const struct diff_row *row, enum measure_by by,
                    unsigned columns);

#endif
