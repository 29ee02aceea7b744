/* SPDX-License-Identifier: MIT */
/*
 * find_spool.h -- finds the spool that a process writes, from its pid. The
 * library has the file open, so the kernel knows its path, whatever directory
 * or SPROF_OUTPUT was used.
 */
#ifndef CLI_PROCESS_FIND_SPOOL_H
#define CLI_PROCESS_FIND_SPOOL_H

#include <stddef.h>
#include <sys/types.h>

/*
 * Store the path of the spool that process PID writes in PATH, of PATH_SIZE
 * bytes (PATH_MAX + 64 suffice). The path can be opened here even if the
 * process lives in a container or has another root. Returns 0, or -1 with a
 * sentence in ERROR (of ERROR_SIZE bytes). It fails if there is no such
 * process, if this user may not look at it, if libsprof does not profile it, or
 * if its spool cannot be read.
 */
int find_spool(pid_t pid, char *path, size_t path_size, char *error,
               size_t error_size);

#endif
