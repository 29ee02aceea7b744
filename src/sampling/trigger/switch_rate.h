/* SPDX-License-Identifier: MIT */
/*
 * switch_rate.h -- whether the program's threads are switched so often that
 * perf's events cost too much. The kernel stops and starts the event's timer at
 * each switch. That takes up to 5 us on a virtual machine, whose timer belongs
 * to the host.
 * Context: sampler.
 */
#ifndef SAMPLING_TRIGGER_SWITCH_RATE_H
#define SAMPLING_TRIGGER_SWITCH_RATE_H

#include <stdbool.h>
#include <stdint.h>

/* Begin a process, with few switches so far. */
void switch_rate_begin(void);

/* Whether switches are many at NOW (clock_now). Called often. */
bool switch_rate_are_many(uint64_t now);

#endif
