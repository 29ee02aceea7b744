/* SPDX-License-Identifier: MIT */
/*
 * page.h -- writes a profile as one HTML file. To show it, a browser needs no
 * network and no other file. The file is src/page/dist/page.html with data in
 * place of one line (docs/page-data.md).
 *
 * Besides the profile, writing takes 4 bytes for each event and 8 bytes for
 * each sample. The tables of strings, frames and nodes need memory, too.
 */
#ifndef WRITE_PAGE_H
#define WRITE_PAGE_H

#include <stdbool.h>
#include <stdio.h>

#include "model/profile.h"
#include "output_file.h"

/* A page of one profile. */
struct page {
    struct output_content content; /* its function is page_make */
    struct profile *profile;
    bool has_source; /* the page has lines of the hottest functions */
};
int page_make(FILE *stream, const struct output_content *content);

/*
 * For other pages (page_diff.h). page_wrap writes the template, and calls DATA
 * to write CONTENT where data belongs. page_side writes the head block of
 * PROFILE as the element ID, without times. Both return 0, or -1 with errno.
 */
int page_wrap(FILE *stream, int (*data)(FILE *, const struct output_content *),
              const struct output_content *content);
int page_side(FILE *stream, const char *id, struct profile *profile);

#endif
