/* SPDX-License-Identifier: MIT */
/* page_diff.h -- a comparison of two profiles as one HTML file
 * (docs/page-data.md). The statistics are those of view/diff.h. */
#ifndef WRITE_PAGE_DIFF_H
#define WRITE_PAGE_DIFF_H

#include "view/diff.h"
#include "page.h"

/* A page of both profiles. Its rows are functions, with own times and totals
 * compared by TEST. */
struct page_diff {
    struct output_content content; /* its function is page_diff_make */
    struct profile *old, *new;
    const struct diff_options *test;
};
int page_diff_make(FILE *stream, const struct output_content *content);

#endif
