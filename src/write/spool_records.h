/* SPDX-License-Identifier: MIT */
/*
 * spool_records.h -- writes records of a spool (store/layout.h) into a file:
 * copies, new ones, and the names of nodes. Only for spool_copy.c.
 */
#ifndef WRITE_SPOOL_RECORDS_H
#define WRITE_SPOOL_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "model/profile.h"
#include "store/layout.h"

struct spool_records {
    FILE *stream;
    struct profile *profile;
    uint64_t offset;        /* of the next record, in bytes */
    struct intern *texts;   /* a text's id is FIRST_TEXT + its number */
    struct intern *symbols; /* pointers; a symbol's id is its number + 1 */
    uint32_t first_text;
    bool failed; /* memory was short */
};

/* Write LENGTH bytes. Errors of the stream stay in it. */
void spool_records_put(struct spool_records *records, const void *bytes,
                       size_t length);

/* Write RECORD of KIND, which has FIXED bytes, and LENGTH bytes of TAIL after
 * it. The function sets its head. */
void spool_records_add(struct spool_records *records, enum record_kind kind,
                       void *record, size_t fixed, const void *tail,
                       size_t length);

/* The same for the record that a variable has, without a tail. */
#define SPOOL_RECORDS_ADD(records, kind, record) \
    spool_records_add(records, kind, &(record), sizeof(record), NULL, 0)

/* Write RECORD as it was read, with a new head. */
void spool_records_copy(struct spool_records *records, enum record_kind kind,
                        const void *record);

/* Write the CPU time of all processes according to the kernel (TREE), if it is
 * known. */
void spool_records_tree(struct spool_records *records);

/* Write the record WHOLE: nothing follows. */
void spool_records_whole(struct spool_records *records);

/* Texts and names of one process are written between these two calls. Ids of
 * texts begin at FIRST_TEXT. Both return 0, or -1 if memory was short. */
int spool_records_begin_names(struct spool_records *records,
                              uint32_t first_text);
int spool_records_end_names(struct spool_records *records);

/* The id of TEXT; a new text is written. 0 for "". */
uint32_t spool_records_text(struct spool_records *records, const char *text);

/* Write that NODE of the profile is called SYMBOL; ID is its id in the file. */
void spool_records_name(struct spool_records *records, uint32_t node,
                        uint32_t id, const struct symbol *symbol);

#endif
