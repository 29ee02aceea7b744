/* SPDX-License-Identifier: MIT */
/*
 * points_end.h -- the end of what points.h looks at: of a thread, of a session,
 * and of a file that another one follows. All time up to then is shown. Sampler
 * thread alone.
 */
#ifndef AGENT_POINTS_END_H
#define AGENT_POINTS_END_H

#include <stdbool.h>
#include <stdint.h>

/* Thread INDEX, which is still listed, lived from START to END and ended with
 * its CPU clock at CLOCK; EXACT: by its own account. Its wait is closed and its
 * end written. */
void points_end_thread(uint32_t index, uint64_t clock, uint64_t start,
                       uint64_t end, bool exact);

/* At the end of a session: close all waits, and write all threads' CPU time.
 */
void points_end(uint64_t now);

/* The same when the journal goes on in another file at NOW, and the threads
 * with it: points_end_file_next, after that, has them begin anew there. */
void points_end_file(uint64_t now);
void points_end_file_next(void);

#endif
