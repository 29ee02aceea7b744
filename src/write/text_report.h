/* SPDX-License-Identifier: MIT */
/*
 * text_report.h -- a profile as text for people: what it is, then its functions
 * in a table (table_text.h; tree_text.h and source_text.h are other views).
 */
#ifndef WRITE_TEXT_REPORT_H
#define WRITE_TEXT_REPORT_H

#include <stdio.h>

#include "profile/profile.h"
#include "profile/table.h"

#include "paint.h"

/* What all text of a report has in common. */
struct text_report_options {
    enum value value;  /* VALUE_CPU or VALUE_WALL: what to sort by */
    uint32_t rows;     /* at most so many rows; 0: all */
    unsigned columns;  /* names are cut so that lines fit; 0: never */
    enum table_by by;  /* what a row is */
    const char *label; /* its key, if that is TABLE_LABEL */
    double least;      /* percent: what is smaller is folded; for trees */
    const struct paint *paint; /* NULL: plain */
};

/* All of PROFILE to STREAM as a file: the head, then every function, by CPU
 * time, in lines of any length. Returns 0, or -1 with errno set. */
int text_report_write(FILE *stream, struct profile *profile);

/* Its parts. */
void text_report_head(FILE *stream, const struct profile *profile);

/* The same in so many columns (0: any number); of many processes, the first. */
void text_report_short_head(FILE *stream, const struct profile *profile,
                            unsigned columns);
int text_report_table(FILE *stream, struct profile *profile,
                      const struct text_report_options *options);

/* A line for each module that was asked for symbols and has a problem, and for
 * each perf map that was not used. */
void text_report_notes(FILE *stream, const struct profile *profile);

#endif
