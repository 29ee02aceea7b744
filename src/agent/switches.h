/* SPDX-License-Identifier: MIT */
/*
 * switches.h -- whether the program's threads are switched so often that perf's
 * events cost too much: the kernel stops and starts the event's timer at each
 * switch, which takes up to 5 us on a virtual machine, whose timer belongs to
 * the host. Sampler thread alone.
 */
#ifndef AGENT_SWITCHES_H
#define AGENT_SWITCHES_H

#include <stdbool.h>
#include <stdint.h>

/* The process begins; few switches so far. */
void switches_begin(void);

/* To be called often; NOW as clock_now says. */
bool switches_are_many(uint64_t now);

#endif
