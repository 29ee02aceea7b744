/* SPDX-License-Identifier: MIT */
/*
 * setup.h -- from what the environment asks for to what the sampler and the
 * journal are told.
 */
#ifndef AGENT_SETUP_H
#define AGENT_SETUP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "store/layout.h"
#include "config.h"
#include "sampler.h"

/* Whether the program's limits leave room for our tables; if not, says so. */
bool setup_has_room(void);

/* The first record of process PID. */
void setup_process(const struct config *config, pid_t pid,
                   struct record_process *record);

/* For process PID, which starts to be sampled at NOW (CLOCK_MONOTONIC ns);
 * IS_CHILD: of a fork. */
void setup_sampler(const struct config *config, pid_t pid, uint64_t now,
                   bool is_child, struct sampler_options *sampler);

#endif
