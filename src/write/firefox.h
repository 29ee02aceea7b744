/* SPDX-License-Identifier: MIT */
/*
 * firefox.h -- a profile in the Firefox Profiler's processed format, version
 * 61, which profiler.firefox.com opens.
 */
#ifndef WRITE_FIREFOX_H
#define WRITE_FIREFOX_H

#include <stdio.h>

#include "model/profile.h"

/* Write PROFILE to STREAM. It must keep its events (model/events.h). Returns 0,
 * or -1 with errno set. */
int firefox_write(FILE *stream, struct profile *profile);

#endif
