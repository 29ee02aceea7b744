/* SPDX-License-Identifier: MIT */
/* stacks_place.h -- the place of a frame, as stacks_text.h prints it. */
#ifndef SHOW_STACKS_PLACE_H
#define SHOW_STACKS_PLACE_H

#include <stdint.h>
#include <stdio.h>

#include "live/stacks.h"

/*
 * Print frame I of NODE: "serve server.c:200", with " (inlined)" if it is
 * inlined. If the file is unknown, the module stands in its place. The
 * function's name is shortened so that the line fits into COLUMNS (0: any
 * number), but keeps at least 10 columns. The place is never cut.
 */
void stacks_place_print(FILE *stream, struct profile *profile, uint32_t node,
                        unsigned i, unsigned columns);

/* Find the frame that asked for the lock that the thread with this LEAF waits
 * for. It is the innermost frame outside the C and C++ libraries. Sets *NODE to
 * its node and *I to its number there. Returns false if there is none. */
bool stacks_place_of_lock(struct profile *profile, uint32_t leaf,
                          uint32_t *node, unsigned *i);

#endif
