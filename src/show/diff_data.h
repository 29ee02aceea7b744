/* SPDX-License-Identifier: MIT */
/* diff_data.h -- a comparison (view/diff.h) for programs (data.h). The keys are
 * documented in docs/sprofile.md and do not change. */
#ifndef SHOW_DIFF_DATA_H
#define SHOW_DIFF_DATA_H

#include "view/diff.h"
#include "data.h"

/* Write the first ROWS rows (0: all). ALL: also rows that are not significant.
 */
void diff_data_write(FILE *stream, enum data_format format,
                     const struct diff *diff, const struct profile *old,
                     const struct profile *new, const struct diff_options *test,
                     bool all, uint32_t rows);

#endif
