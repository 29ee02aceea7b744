/* SPDX-License-Identifier: MIT */
/*
 * alarms.h -- watches the conditions of SPROF_DUMP_WHEN (base/conditions.h).
 * The sampler looks by itself, so it sees a program that is stuck. An alarm is
 * a condition that holds. After an alarm its condition is not watched for the
 * time that the flight recorder keeps. Otherwise its files would overlap.
 * Context: sampler.
 */
#ifndef SAMPLING_ALARMS_H
#define SAMPLING_ALARMS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/conditions.h"
#include "base/settings.h"

/* Limit of the alarms of a profile, and so of the times that it writes. */
#define ALARMS_MOST 10u

/* Called whenever a profile begins. Context: start. */
void alarms_begin(const struct settings *settings);

/* A span with NAME has ended after NS. */
void alarms_see_span(const char *name, uint64_t ns);

/* A thread that could run had no CPU for NS. */
void alarms_see_queue(uint64_t ns);

/* Look whether conditions hold, as far as a look is due. A session is on. */
void alarms_look(void);

/* Take the next alarm, and return its condition; NULL: no alarm. */
const struct condition *alarms_next(void);

/* Whether alarms_next would return one. */
bool alarms_are_there(void);

#endif
