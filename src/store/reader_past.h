/* SPDX-License-Identifier: MIT */
/*
 * reader_past.h -- the spool that a flight recorder has put aside for its
 * present one: NAME.past.sprof beside NAME.sprof. Report side only; allocates.
 */
#ifndef STORE_READER_PAST_H
#define STORE_READER_PAST_H

#include "layout.h"
#include "reader.h"

/* Open the one beside the spool at PATH, which has HEADER. As the recorder may
 * turn meanwhile, it may be as young as that one, or younger: see
 * spool_header.begin. NULL: there is none, or it is another process's. */
struct reader *reader_past_open(const char *path,
                                const struct spool_header *header);

#endif
