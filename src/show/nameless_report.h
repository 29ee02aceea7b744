/* SPDX-License-Identifier: MIT */
/*
 * nameless_report.h -- the frames of a profile that have no names, and what
 * would help, as text for people.
 */
#ifndef SHOW_NAMELESS_REPORT_H
#define SHOW_NAMELESS_REPORT_H

#include <stdio.h>

#include "model/profile.h"

/* Look up all symbols; print nothing if each frame has a name. Returns 0, or -1
 * with errno set. */
int nameless_report_write(FILE *stream, struct profile *profile);

#endif
