/* SPDX-License-Identifier: MIT */
/* page_source.h -- lines of source for a page, as JSON (docs/page-data.md).
 * Source is confidential, so it is on a page only on request. */
#ifndef WRITE_PAGE_SOURCE_H
#define WRITE_PAGE_SOURCE_H

#include <stdio.h>

#include "model/profile.h"

/* Limits of the functions whose source is written, and of the bytes of all
 * lines. */
enum { PAGE_SOURCE_FUNCTIONS = 50, PAGE_SOURCE_BYTES = 1 << 20 };

/* Write the element with the source of the functions in which PROFILE has most
 * time, the file with the most of it first. It names the files that cannot be
 * read. Returns 0, or -1 with errno set. */
int page_source_write(FILE *stream, struct profile *profile);

#endif
