/* SPDX-License-Identifier: MIT */
/*
 * firefox.h -- a profile in the Firefox Profiler's processed format, version
 * 61: what profiler.firefox.com opens.
 */
#ifndef WRITE_FIREFOX_H
#define WRITE_FIREFOX_H

#include <stdio.h>

#include "profile/profile.h"

/* Write PROFILE, which must keep its events (profile/events.h), to STREAM.
 * Returns 0, or -1 with errno set. */
int firefox_write(FILE *stream, struct profile *profile);

#endif
