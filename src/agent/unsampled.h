/* SPDX-License-Identifier: MIT */
/*
 * unsampled.h -- CPU time of threads that nobody may interrupt (TRIGGER_NONE;
 * traced.h): it is told without a stack, so that the samples of other times do
 * not stand for it. Sampler thread alone.
 */
#ifndef AGENT_UNSAMPLED_H
#define AGENT_UNSAMPLED_H

#include <stdint.h>

#include "account.h"

/* Thread INDEX, of ACCOUNT, ran for RAN of the BETWEEN ns before NOW. */
void unsampled_add(struct account *account, uint32_t index, uint64_t ran,
                   uint64_t between, uint64_t now);

/* The first thread, INDEX, used CPU ns before there was a sampler that could
 * sample it (doze.h), from SINCE to UNTIL. That is no sample: a process that
 * has no others writes no profile. */
void unsampled_early(uint32_t index, uint64_t cpu, uint64_t since,
                     uint64_t until);

/* Write what was not written yet. */
void unsampled_flush(struct account *account, uint32_t index);

#endif
