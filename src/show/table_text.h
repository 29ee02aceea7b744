/* SPDX-License-Identifier: MIT */
/* table_text.h -- a table (view/table.h) as text for people. */
#ifndef SHOW_TABLE_TEXT_H
#define SHOW_TABLE_TEXT_H

#include "text_report.h"

/* Print the rows of TABLE, which was built by OPTIONS->by, with a title.
 * Percentages are of PROFILE's totals. */
void table_text_write(FILE *stream, const struct profile *profile,
                      const struct table *table,
                      const struct text_report_options *options);

#endif
