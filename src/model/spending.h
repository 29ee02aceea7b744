/* SPDX-License-Identifier: MIT */
/*
 * spending.h -- the sentences about the rates at which a process was sampled,
 * and what that cost. Each function writes one line without a newline into TEXT
 * of SIZE bytes, and returns TEXT: "" if nothing is known, as in files of old
 * versions and in pprof files. A line that does not fit is truncated.
 */
#ifndef MODEL_SPENDING_H
#define MODEL_SPENDING_H

#include <stddef.h>

#include "profile.h"

/* "1000 Hz for 0.287 s of CPU, 66 for 2.042 s, 96 for 4.221 s": the rates of a
 * process, one after the other. The first ones are listed one by one, and the
 * rest together. For several processes: "66 to 1000 Hz in 12 epochs of 5
 * processes". "" if all samples were taken at the rate that was asked for. */
char *spending_rates(const struct profile *profile, char *text, size_t size);

/* "by the model 0.054 s, 0.82 % of 6.599 s CPU (1 % allowed): 831 interruptions
 * of 29.7 us; measured 0.021 s (threads stopped, sampler)". The measured part
 * is included in the model, except for the looks at waiting threads. */
char *spending_cost(const struct profile *profile, char *text, size_t size);

#endif
