/* SPDX-License-Identifier: MIT */
/* table_text.h -- a table (profile/table.h) as text for people. */
#ifndef WRITE_TABLE_TEXT_H
#define WRITE_TABLE_TEXT_H

#include "text_report.h"

/* The rows of TABLE, which are of OPTIONS->by, with a title. Percentages are of
 * PROFILE's totals. */
void table_text_write(FILE *stream, const struct profile *profile,
                      const struct table *table,
                      const struct text_report_options *options);

#endif
