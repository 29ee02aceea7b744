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

/* Write what was not written yet. */
void unsampled_flush(struct account *account, uint32_t index);

#endif
