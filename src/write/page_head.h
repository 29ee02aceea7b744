/* SPDX-License-Identifier: MIT */
/* page_head.h -- the head block of a page (docs/page-data.md). It has all that
 * the first screen shows, and no times of single samples. */
#ifndef WRITE_PAGE_HEAD_H
#define WRITE_PAGE_HEAD_H

#include <stdint.h>

#include "page_stream.h"
#include "page_tables.h"

/* The version of the blocks. A change that an older decoder would misread needs
 * a new one. */
#define PAGE_HEAD_VERSION 2u

/* Write the block to STREAM. The strings of TABLES grow. Returns 0, or -1 with
 * errno set if memory is short. */
int page_head_write(struct page_stream *stream, struct page_tables *tables);

#endif
