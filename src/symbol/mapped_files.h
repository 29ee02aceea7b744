/* SPDX-License-Identifier: MIT */
/*
 * mapped_files.h -- the files that a living process has mapped, including those
 * that are no longer at their paths: deleted, moved, or replaced by a new
 * version.
 *
 * The kernel still has them. It shows them in /proc/PID/map_files to processes
 * with CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE. The executable in
 * /proc/PID/exe, and files that PID has open (memfd_create(2)), are shown to
 * every process that may inspect PID. Report side only.
 */
#ifndef SYMBOL_MAPPED_FILES_H
#define SYMBOL_MAPPED_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "bytes.h"

struct mapped_files;

/* Read the map of process PID, which existed at MONOTONIC (ns of
 * CLOCK_MONOTONIC). NULL if the process has ended, has got its pid since then,
 * may not be inspected, or memory is short. */
struct mapped_files *mapped_files_open(uint32_t pid, uint64_t monotonic);

/*
 * Returns a path by which the file mapped at START can still be read. The
 * caller frees it. The path is needed if the file is no longer at PATH. It is
 * needed too if the process has another root or other mounts than this process
 * (chroot, containers). *IS_ELSEWHERE becomes whether it is needed. Returns
 * NULL if it is not needed, if the file is not known or cannot be read, or if
 * its build-id is not BUILD_ID. In the last case another file is mapped there
 * now, and the one at PATH may be right. Without a build-id (an empty one), a
 * file that has moved is not known: it could be another process's after all.
 */
char *mapped_files_find(const struct mapped_files *files, uint64_t start,
                        const char *path, struct bytes build_id,
                        bool *is_elsewhere);

/* NULL is allowed. */
void mapped_files_close(struct mapped_files *files);

#endif
