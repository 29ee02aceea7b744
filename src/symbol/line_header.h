/* SPDX-License-Identifier: MIT */
/*
 * line_header.h -- what stands before the program of a line table.
 */
#ifndef SYMBOL_LINE_HEADER_H
#define SYMBOL_LINE_HEADER_H

#include "line_table.h"

struct line_file {
    const char *name;
    uint64_t directory;
    const char *path; /* put together; NULL until then */
};

/* Read the header at OFFSET. Returns 0, or -1 with errno set if memory is
 * short; TABLE->program is empty if the header is damaged or unknown. */
int line_header_read(struct line_table *table, const struct sections *sections,
                     uint64_t offset);

#endif
