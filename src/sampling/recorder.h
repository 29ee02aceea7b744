/* SPDX-License-Identifier: MIT */
/*
 * recorder.h -- the flight recorder (SPROF_KEEP). It rotates the journal when
 * the present file covers the time that is kept, or is nearly full. The file of
 * the past then has the time before the last rotation; earlier time is gone. So
 * at every instant the files cover that much time, and never more than twice as
 * much. It also begins the spool anew after it was shortened from outside
 * (`truncate`, log rotation).
 * Context: sampler.
 */
#ifndef SAMPLING_RECORDER_H
#define SAMPLING_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/settings.h"

/* Called whenever a profile begins. Context: start. */
void recorder_begin(const struct settings *settings);

/* Rotate the journal if that is due; returns at once if not. MAY_ROTATE is
 * false while a helper process reads the files: then only a full file is
 * rotated, because the helper must find its data. A session is on. */
void recorder_rotate_if_due(bool may_rotate);

/* The errno of the last rotation that was due and failed; 0: it did not fail.
 */
int recorder_error(void);

/* If the spool was shortened, begin it anew. Its contents are lost; sampling
 * goes on. */
void recorder_begin_again(void);

/* Number of samples that were in shortened spools. */
uint64_t recorder_lost(void);

#endif
