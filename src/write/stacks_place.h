/* SPDX-License-Identifier: MIT */
/* stacks_place.h -- where a frame is, in the words of stacks_text.h. */
#ifndef WRITE_STACKS_PLACE_H
#define WRITE_STACKS_PLACE_H

#include <stdint.h>
#include <stdio.h>

#include "profile/stacks.h"

/*
 * Print frame I of what is at NODE: "serve server.c:200", with " (inlined)"
 * where it is; the module, where file and line are not known. What is wider
 * than COLUMNS (0: any number) is cut, its place last.
 */
void stacks_place_print(FILE *stream, struct profile *profile, uint32_t node,
                        unsigned i, unsigned columns);

/* The frame of a thread that asked for the lock it waits for: the innermost one
 * that is the program's, not the C or C++ library's. Its node into *NODE and
 * its number there into *I. False if there is none. */
bool stacks_place_of_lock(struct profile *profile, uint32_t leaf,
                          uint32_t *node, unsigned *i);

#endif
