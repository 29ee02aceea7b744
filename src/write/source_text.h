/* SPDX-License-Identifier: MIT */
/* source_text.h -- functions with the time of each of their lines. */
#ifndef WRITE_SOURCE_TEXT_H
#define WRITE_SOURCE_TEXT_H

#include "text_report.h"

struct lines;

/* The functions of LINES, with their source where the file can be read. */
void source_text_write(FILE *stream, const struct profile *profile,
                       const struct lines *lines,
                       const struct text_report_options *options);

#endif
