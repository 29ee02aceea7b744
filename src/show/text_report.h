/* SPDX-License-Identifier: MIT */
/*
 * text_report.h -- a profile as text for people: a head, then its functions in
 * a table (table_text.h). Other views are tree_text.h and source_text.h.
 */
#ifndef SHOW_TEXT_REPORT_H
#define SHOW_TEXT_REPORT_H

#include <stdio.h>

#include "model/profile.h"
#include "view/table.h"
#include "paint.h"

/* The options of all text reports. */
struct text_report_options {
    enum value value;  /* VALUE_CPU or VALUE_WALL: what to sort by */
    uint32_t rows;     /* most rows to print; 0: all */
    unsigned columns;  /* width to which names are cut; 0: never */
    enum table_by by;  /* what a row is */
    const char *label; /* the key, if BY is TABLE_LABEL */
    double least;      /* percent below which a branch is folded; for trees */
    const struct paint *paint; /* NULL: plain */
};

/* Print PROFILE to STREAM for a file: the head, then every function, by CPU
 * time, in lines of any length. Returns 0, or -1 with errno set. */
int text_report_write(FILE *stream, struct profile *profile);

/* The head: everything that is known about PROFILE as a whole. */
void text_report_head(FILE *stream, const struct profile *profile);

/* The same in COLUMNS (0: any number), with only the first of many processes.
 */
void text_report_short_head(FILE *stream, const struct profile *profile,
                            unsigned columns);
int text_report_table(FILE *stream, struct profile *profile,
                      const struct text_report_options *options);

/* Print a line for each module with a problem in the symbols that were asked
 * for. Print a line for each perf map that was not used. */
void text_report_notes(FILE *stream, const struct profile *profile);

#endif
