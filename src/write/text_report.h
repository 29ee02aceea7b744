/* SPDX-License-Identifier: MIT */
/*
 * text_report.h -- a profile as text for people: what it is, then its functions
 * in a table.
 */
#ifndef WRITE_TEXT_REPORT_H
#define WRITE_TEXT_REPORT_H

#include <stdio.h>

#include "profile/profile.h"

struct text_report_options {
    enum value value; /* VALUE_CPU or VALUE_WALL: what to sort by */
    uint32_t rows;    /* at most so many functions; 0: all */
    unsigned columns; /* names are cut so that lines fit; 0: never */
};

/* All of PROFILE to STREAM as a file: the head, then every function, by CPU
 * time, in 100 columns. Returns 0, or -1 with errno set. */
int text_report_write(FILE *stream, struct profile *profile);

/* Its parts. */
void text_report_head(FILE *stream, const struct profile *profile);
int text_report_table(FILE *stream, struct profile *profile,
                      const struct text_report_options *options);

/* A line for each module that was asked for symbols and has a problem, and for
 * each perf map that was not used. */
void text_report_notes(FILE *stream, const struct profile *profile);

#endif
