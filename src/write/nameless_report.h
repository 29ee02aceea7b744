/* SPDX-License-Identifier: MIT */
/*
 * nameless_report.h -- what has no names in a profile, as text for people, and
 * what would help.
 */
#ifndef WRITE_NAMELESS_REPORT_H
#define WRITE_NAMELESS_REPORT_H

#include <stdio.h>

#include "profile/profile.h"

/* Looks up all symbols; prints nothing if each frame has a name. Returns 0, or
 * -1 with errno set. */
int nameless_report_write(FILE *stream, struct profile *profile);

#endif
