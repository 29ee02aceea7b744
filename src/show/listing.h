/* SPDX-License-Identifier: MIT */
/* listing.h -- the lines of a function, of source or of machine code, each with
 * what was spent there. */
#ifndef SHOW_LISTING_H
#define SHOW_LISTING_H

#include "columns.h"
#include "text_report.h"

struct listing {
    struct columns columns;
    enum value value;
    uint64_t whole; /* ns, what percentages are of */
    struct column all[7];
};

/* Begin lines to STREAM; percentages are of the totals of PROFILE. */
void listing_begin(struct listing *listing, FILE *stream,
                   const struct profile *profile,
                   const struct text_report_options *options);

/* Print TEXT with the number LINE (0: none), and the values FLAT and
 * CUMULATIVE, which are arrays by enum value; NULL: no values. */
void listing_line(struct listing *listing, const uint64_t *flat,
                  const uint64_t *cumulative, unsigned line, const char *text);

#endif
