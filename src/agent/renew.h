/* SPDX-License-Identifier: MIT */
/*
 * renew.h -- somebody has shortened the spool while it was written (`truncate`,
 * log rotation): what was in it is gone, and it begins anew. Sampler thread
 * alone.
 */
#ifndef AGENT_RENEW_H
#define AGENT_RENEW_H

#include <stdint.h>

/* At the start, and in the child of a fork. */
void renew_begin(void);

/* Look whether that has happened, and begin the spool anew. Sampling goes on.
 */
void renew_heed(void);

/* Samples that were in spools which were shortened. */
uint64_t renew_lost(void);

#endif
