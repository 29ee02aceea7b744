/* SPDX-License-Identifier: MIT */
/* head_text.h -- the subject and the quality of a report in three lines.
 * `sprofile info` has all of it (text_report_head). */
#ifndef SHOW_HEAD_TEXT_H
#define SHOW_HEAD_TEXT_H

#include <stdio.h>

#include "model/profile.h"

/* Print the lines in at most COLUMNS (0: any number). */
void head_text_write(FILE *stream, const struct profile *profile,
                     unsigned columns);

#endif
