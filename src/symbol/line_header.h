/* SPDX-License-Identifier: MIT */
/*
 * line_header.h -- reads the header that stands before a line table's program.
 */
#ifndef SYMBOL_LINE_HEADER_H
#define SYMBOL_LINE_HEADER_H

#include "line_table.h"

struct line_file {
    const char *name;
    uint64_t directory;
    const char *path; /* the whole path; NULL until line_table_file makes it */
};

/* Read the header at OFFSET of SECTIONS' line section into TABLE. Returns 0, or
 * -1 with errno set if memory is short. TABLE->program is empty if the header
 * is damaged or of an unknown version. */
int line_header_read(struct line_table *table, const struct sections *sections,
                     uint64_t offset);

#endif
