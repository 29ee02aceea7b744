/* SPDX-License-Identifier: MIT */
/* diff_data.h -- a comparison (profile/diff.h) for programs (data.h). The keys
 * are documented in docs/sprofile.md and stay what they are. */
#ifndef WRITE_DIFF_DATA_H
#define WRITE_DIFF_DATA_H

#include "profile/diff.h"

#include "data.h"

/* The first ROWS rows (0: all); ALL: also what is not significant. */
void diff_data_write(FILE *stream, enum data_format format,
                     const struct diff *diff, const struct profile *old,
                     const struct profile *new, const struct diff_options *test,
                     bool all, uint32_t rows);

#endif
