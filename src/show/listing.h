/* SPDX-License-Identifier: MIT */
/* listing.h -- the lines of a function, of source or of machine code, each with
 * what was spent there. */
#ifndef SHOW_LISTING_H
#define SHOW_LISTING_H

#include "view/confidence.h"
#include "columns.h"
#include "text_report.h"

struct listing {
    struct columns columns;
    enum value value;
    struct confidence whole; /* what percentages are of */
    struct column all[8];
};

/* The column of errors, a bit of COLUMNS.hidden. */
enum { LISTING_ERROR = 4 };

/* Begin lines to STREAM; percentages are of the totals of PROFILE. */
void listing_begin(struct listing *listing, FILE *stream,
                   const struct profile *profile,
                   const struct text_report_options *options);

/* Print TEXT with the number LINE (0: none), and the values FLAT, with their
 * SQUARES (view/confidence.h, NULL: not known), and CUMULATIVE. They are arrays
 * by enum value; FLAT is NULL: no values. */
void listing_line(struct listing *listing, const uint64_t *flat,
                  const double *squares, const uint64_t *cumulative,
                  unsigned line, const char *text);

#endif
