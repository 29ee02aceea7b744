/* SPDX-License-Identifier: MIT */
/*
 * marks.h -- takes the marks of the program while it is sampled: instants and
 * spans of time that the program names.
 */
#ifndef SAMPLING_MARKS_H
#define SAMPLING_MARKS_H

#include <stdbool.h>
#include <stdint.h>

#include "store/layout.h"

/* Accept marks from now on, or none. Context: sampler. */
void marks_accept(bool is_open);
bool marks_are_open(void);

/* Take a mark of the calling thread, of KIND (a USER or SPAN mark) with the
 * name NAME. TIME is CLOCK_MONOTONIC; TIME and DURATION are in ns. Returns 0 or
 * an enum sprof_error (sprof.h). The function takes no lock.
 * Context: any. */
int marks_put(enum mark_kind kind, const char *name, uint64_t time,
              uint64_t duration);

/* Write the marks that were taken into the journal. Context: sampler. */
void marks_write(void);

#endif
