/* SPDX-License-Identifier: MIT */
/* page_time.h -- the time block of a page (docs/page-data.md). It has every
 * event of the profile with its time, exact to the nanosecond. */
#ifndef WRITE_PAGE_TIME_H
#define WRITE_PAGE_TIME_H

#include "page_stream.h"
#include "page_tables.h"

/* Write the block. TABLES have a timeline. */
void page_time_write(struct page_stream *stream,
                     const struct page_tables *tables);

#endif
