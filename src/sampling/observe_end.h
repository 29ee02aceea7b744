/* SPDX-License-Identifier: MIT */
/*
 * observe_end.h -- the end of what observe.h looks at: of a thread, of a
 * session, or of a file that is rotated. All time up to that end is shown.
 * Context: sampler.
 */
#ifndef SAMPLING_OBSERVE_END_H
#define SAMPLING_OBSERVE_END_H

#include <stdbool.h>
#include <stdint.h>

/* Thread INDEX, which is still listed, lived from START to END; at its end its
 * CPU clock read CLOCK. EXACT: the thread itself reported that. Its wait is
 * closed, and its end is written. */
void observe_end_thread(uint32_t index, uint64_t clock, uint64_t start,
                        uint64_t end, bool exact);

/* End a session: close all waits, and write all threads' CPU time. */
void observe_end(uint64_t now);

/* The same when the journal is rotated at NOW and the threads live on.
 * observe_end_after_rotate, called afterwards, lets them begin anew in the next
 * file. */
void observe_end_before_rotate(uint64_t now);
void observe_end_after_rotate(void);

#endif
