/* SPDX-License-Identifier: MIT */
/*
 * reader_past.h -- opens the spool that a flight recorder has put aside at its
 * last rotation: NAME.past.sprof beside NAME.sprof. Report side only;
 * allocates.
 */
#ifndef STORE_READER_PAST_H
#define STORE_READER_PAST_H

#include "layout.h"
#include "reader.h"

/* Open the earlier spool beside the spool at PATH, whose header is HEADER. The
 * recorder may rotate meanwhile, so the opened spool may be the same as that
 * one, or newer: see spool_header.begin. Returns NULL if there is none, or if
 * it belongs to another process. */
struct reader *reader_past_open(const char *path,
                                const struct spool_header *header);

#endif
