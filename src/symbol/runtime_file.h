/* SPDX-License-Identifier: MIT */
/*
 * runtime_file.h -- opens a file that a runtime has written about its code.
 * Every user may write to the folders of these files. So no link is followed,
 * nothing that could block is opened, and owner, type and time are those of the
 * open file. Report side only.
 */
#ifndef SYMBOL_RUNTIME_FILE_H
#define SYMBOL_RUNTIME_FILE_H

#include <stdint.h>
#include <sys/stat.h>

/*
 * Open the file at PATH for reading, and set *STATUS. It must be a regular file
 * of this user or of root. It must have been last written from START to END
 * (ns since the epoch; a minute more is allowed): pids are used again, so an
 * earlier or a later process may have written a file of that name. Returns the
 * descriptor, or -1. *PROBLEM is then a sentence that the caller frees. It is
 * NULL if the file does not exist or memory is short.
 */
int runtime_file_open(const char *path, uint64_t start, uint64_t end,
                      struct stat *status, char **problem);

#endif
