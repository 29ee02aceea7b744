/* SPDX-License-Identifier: MIT */
/* page_meta.h -- writes the facts about a whole profile, as JSON. This text is
 * in the head block of a page (docs/page-data.md). */
#ifndef WRITE_PAGE_META_H
#define WRITE_PAGE_META_H

#include "page_stream.h"
#include "page_tables.h"

/* Write the text for the profile of TABLES. Returns 0, or -1 with errno set if
 * memory is short. */
int page_meta_write(struct page_stream *stream,
                    const struct page_tables *tables);

#endif
