/* SPDX-License-Identifier: MIT */
/*
 * records.h -- writes records of a spool (store/layout.h) into a file: copies,
 * new ones, and the names of nodes. Only for respool.c and remake.c.
 */
#ifndef WRITE_RECORDS_H
#define WRITE_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "model/profile.h"
#include "store/layout.h"

struct records {
    FILE *stream;
    struct profile *profile;
    uint64_t offset;        /* of the next record, in bytes */
    struct intern *texts;   /* a text's id is FIRST_TEXT + its number */
    struct intern *symbols; /* pointers; a symbol's id is its number + 1 */
    uint32_t first_text;
    bool failed; /* memory was short */
};

/* Write LENGTH bytes. Errors of the stream stay in it. */
void records_put(struct records *records, const void *bytes, size_t length);

/* Write RECORD of KIND, which has FIXED bytes, and LENGTH bytes of TAIL behind
 * it. The function sets its head. */
void records_add(struct records *records, enum record_kind kind, void *record,
                 size_t fixed, const void *tail, size_t length);

/* Write RECORD as it was read, with a new head. */
void records_copy(struct records *records, enum record_kind kind,
                  const void *record);

/* Write the CPU time of all processes according to the kernel (TREE), if it is
 * known. */
void records_tree(struct records *records);

/* Write the record WHOLE: nothing follows. */
void records_whole(struct records *records);

/* Texts and names of one process are written between these two calls. Ids of
 * texts begin at FIRST_TEXT. Both return 0, or -1 if memory was short. */
int records_begin_names(struct records *records, uint32_t first_text);
int records_end_names(struct records *records);

/* The id of TEXT; a new text is written. 0 for "". */
uint32_t records_text(struct records *records, const char *text);

/* Write the name of NODE of the profile; ID is its id in the file. */
void records_name(struct records *records, uint32_t node, uint32_t id);

#endif
