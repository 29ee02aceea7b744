/* SPDX-License-Identifier: MIT */
/*
 * live.h -- from the pid of a process to the spool that it writes. The library
 * has the file open, so the kernel names it, wherever it is and whatever
 * SPROF_OUTPUT said.
 */
#ifndef CLI_LIVE_H
#define CLI_LIVE_H

#include <stddef.h>
#include <sys/types.h>

/*
 * Put the path of the spool that process PID writes into PATH, of PATH_SIZE
 * bytes (PATH_MAX + 64 are enough). It can be opened here even if the process
 * lives in a container or has another root. Returns 0, or -1 with a sentence in
 * ERROR (of ERROR_SIZE bytes): there is no such process, it may not be looked
 * at, it is not profiled by libsprof, its spool cannot be read.
 */
int live_find(pid_t pid, char *path, size_t path_size, char *error,
              size_t error_size);

#endif
