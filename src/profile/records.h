/* SPDX-License-Identifier: MIT */
/*
 * records.h -- writes records of a spool (store/layout.h) into a file: copies,
 * new ones, and the names of nodes. For respool.c and remake.c.
 */
#ifndef PROFILE_RECORDS_H
#define PROFILE_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "store/layout.h"

#include "profile.h"

struct records {
    FILE *stream;
    struct profile *profile;
    uint64_t offset;        /* of the next record */
    struct intern *texts;   /* numbers + first_text are ids */
    struct intern *symbols; /* pointers; numbers + 1 are ids */
    uint32_t first_text;
    bool failed; /* memory was short */
};

/* Write LENGTH bytes. Errors of the stream stay in it. */
void records_put(struct records *records, const void *bytes, size_t length);

/* Write RECORD of KIND, FIXED bytes, and the TAIL of LENGTH bytes behind it.
 * Its head is made here. */
void records_add(struct records *records, enum record_kind kind, void *record,
                 size_t fixed, const void *tail, size_t length);

/* Write RECORD as it was read, with a new head. */
void records_copy(struct records *records, enum record_kind kind,
                  const void *record);

/* Texts and names of one process come between these two; ids of texts are
 * FIRST_TEXT and more. Both return 0, or -1 if memory was short. */
int records_begin_names(struct records *records, uint32_t first_text);
int records_end_names(struct records *records);

/* The id of TEXT, which is written if it is new; 0 for "". */
uint32_t records_text(struct records *records, const char *text);

/* Write what NODE of the profile, whose id in the file is ID, is called. */
void records_name(struct records *records, uint32_t node, uint32_t id);

#endif
