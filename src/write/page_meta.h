/* SPDX-License-Identifier: MIT */
/* page_meta.h -- what is known of a whole profile, as the JSON text in the head
 * block of a page (docs/page-data.md). */
#ifndef WRITE_PAGE_META_H
#define WRITE_PAGE_META_H

#include <stdbool.h>

#include "model/profile.h"
#include "page_stream.h"

/* Write the text for PROFILE. HAS_TIMES: the page has a time block. Returns 0,
 * or -1 with errno set if memory is short. */
int page_meta_write(struct page_stream *stream, const struct profile *profile,
                    bool has_times);

#endif
