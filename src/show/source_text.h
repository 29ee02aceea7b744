/* SPDX-License-Identifier: MIT */
/* source_text.h -- functions with the time of each of their lines. */
#ifndef SHOW_SOURCE_TEXT_H
#define SHOW_SOURCE_TEXT_H

#include "text_report.h"

struct lines;

/* Print the functions of LINES, with their source if the file can be read. */
void source_text_write(FILE *stream, const struct profile *profile,
                       const struct lines *lines,
                       const struct text_report_options *options);

#endif
