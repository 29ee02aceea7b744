/* SPDX-License-Identifier: MIT */
/*
 * renew.h -- begins the spool anew after it was shortened from outside while it
 * was written (`truncate`, log rotation). What was in the spool is gone.
 * Context: sampler.
 */
#ifndef SAMPLING_RENEW_H
#define SAMPLING_RENEW_H

#include <stdint.h>

/* If the spool was shortened, begin it anew. Sampling goes on. */
void renew_heed(void);

/* Number of samples that were in shortened spools. */
uint64_t renew_lost(void);

#endif
