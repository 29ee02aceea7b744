/* SPDX-License-Identifier: MIT */
/* head_text.h -- what a report is of and how well it is known, in three lines.
 * `sprofile info` has all of it (text_report_head). */
#ifndef WRITE_HEAD_TEXT_H
#define WRITE_HEAD_TEXT_H

#include <stdio.h>

#include "profile/profile.h"

/* Print them in at most so many columns (0: any number). */
void head_text_write(FILE *stream, const struct profile *profile,
                     unsigned columns);

#endif
