/* SPDX-License-Identifier: MIT */
/*
 * regular_file.h -- opens files whose paths come from a spool, which may be
 * damaged or from another machine. Report side only.
 */
#ifndef SYMBOL_REGULAR_FILE_H
#define SYMBOL_REGULAR_FILE_H

/* Open PATH for reading if it is a regular file. The open cannot block. Returns
 * a descriptor, or -1 with errno set. */
int regular_file_open(const char *path);

#endif
