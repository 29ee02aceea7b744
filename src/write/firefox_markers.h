/* SPDX-License-Identifier: MIT */
/*
 * firefox_markers.h -- what is shown above and beside the samples of a thread:
 * its waits, its labels, the marks that the program set, and notes about the
 * process. Only for firefox.c.
 */
#ifndef WRITE_FIREFOX_MARKERS_H
#define WRITE_FIREFOX_MARKERS_H

#include <stdbool.h>

#include "firefox_columns.h"

/* meta.markerSchema: the kinds of markers, and what is shown of them. */
extern const char firefox_markers_schema[];

/* Find all strings, and the marks of each thread. FIREFOX->is_main must be
 * filled. Returns 0, or -1 if memory is short; the caller calls
 * firefox_markers_release in both cases. */
int firefox_markers_prepare(struct firefox *firefox);

/* Whether THREAD has marks. */
bool firefox_markers_exist(const struct firefox *firefox, uint32_t thread);

/* Write the table "markers" of THREAD. Returns 0, or -1 if memory is short. */
int firefox_markers_write(struct firefox *firefox, uint32_t thread);

void firefox_markers_release(struct firefox *firefox);

#endif
