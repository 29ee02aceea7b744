/* SPDX-License-Identifier: MIT */
/*
 * event_cost.h -- measures the cost of an event of perf in the thread that it
 * interrupts, on this machine. On a virtual machine the timer belongs to the
 * host. Each interruption then leaves the virtual machine and comes back.
 */
#ifndef SAMPLING_TRIGGER_EVENT_COST_H
#define SAMPLING_TRIGGER_EVENT_COST_H

#include <stdint.h>

/* Returns the ns of CPU time that an interruption without a signal costs a loop
 * that uses no memory. 0: no event can be opened. Takes some 3 ms of CPU time.
 * Context: sampler. */
uint64_t event_cost_measure(void);

#endif
