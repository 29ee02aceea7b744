/* SPDX-License-Identifier: MIT */
/*
 * event_cost.h -- measures what an event of perf costs the thread that it
 * interrupts, on this machine. On a virtual machine the timer belongs to the
 * host, and each interruption is a way out of the machine and back.
 */
#ifndef SAMPLING_TRIGGER_EVENT_COST_H
#define SAMPLING_TRIGGER_EVENT_COST_H

#include <stdint.h>

/* Returns ns of CPU time for each interruption of a loop that uses no memory,
 * without a signal; 0: that cannot be measured. Takes some 3 ms of CPU time.
 * Context: sampler. */
uint64_t event_cost_measure(void);

#endif
