/* SPDX-License-Identifier: MIT */
/* run_summary.h -- a profile in a few lines, printed at the end of a recording.
 */
#ifndef SHOW_RUN_SUMMARY_H
#define SHOW_RUN_SUMMARY_H

#include <stdio.h>

#include "model/profile.h"

/* Print PROFILE, which was written to PATH, to STREAM. The lines are its size,
 * the functions with the most time, losses and cost. The time is CPU time, or
 * wall time if there is no CPU time. Returns 0, or -1 with errno set. */
int run_summary_write(FILE *stream, struct profile *profile, const char *path);

/* Print a line "names ..." about the file without names that costs most, or
 * about generated code, and what can be done; nothing if its share is small.
 * Returns 0, or -1 with errno set. */
int run_summary_write_nameless(FILE *stream, struct profile *profile);

#endif
