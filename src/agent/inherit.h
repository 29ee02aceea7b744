/* SPDX-License-Identifier: MIT */
/*
 * inherit.h -- what a new program inherits of the signals that are ours: as the
 * program believes it has set them (mask.h, suspend.h), not as they are. It is
 * made real for as long as a new program starts.
 */
#ifndef AGENT_INHERIT_H
#define AGENT_INHERIT_H

#include <signal.h>
#include <stdbool.h>

#include "capture/handler.h"

/* What inherit_end puts back. */
struct inherit {
    bool changed[HANDLER_SIGNALS];
    struct sigaction real[HANDLER_SIGNALS];
};

/* Before a program is started: the calling thread's mask becomes what the
 * program believes, and a signal that it ignores is ignored. Where it ignores
 * one, samples of this time are lost, and if that is SIGTRAP, perf's event may
 * give way to timers for good. Any thread; also in a child of vfork. */
void inherit_begin(struct inherit *inherit);

/* It has started, or could not. Leaves errno alone. */
void inherit_end(const struct inherit *inherit);

#endif
