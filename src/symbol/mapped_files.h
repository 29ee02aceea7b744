/* SPDX-License-Identifier: MIT */
/*
 * mapped_files.h -- the files that a living process has mapped, including those
 * that are no longer at their paths: deleted, moved, or replaced by a new
 * version.
 *
 * The kernel still has them. It shows them in /proc/PID/map_files to processes
 * with CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE. The executable in /proc/PID/exe
 * is shown to every process that may inspect PID. Report side only.
 */
#ifndef SYMBOL_MAPPED_FILES_H
#define SYMBOL_MAPPED_FILES_H

#include <stdint.h>

struct mapped_files;

/* Read the map of process PID. NULL if the process has ended, may not be
 * inspected, or memory is short. */
struct mapped_files *mapped_files_open(uint32_t pid);

/*
 * Returns a path by which the file mapped at START can still be read. The
 * caller frees it. The path is needed if the file is no longer at PATH. It is
 * needed too if the process has another root or other mounts than this process
 * (chroot, containers). Returns NULL if the file is still at PATH, is not
 * known, or cannot be read. Another process may have got the pid since, so the
 * caller must check the build-id.
 */
char *mapped_files_find(const struct mapped_files *files, uint64_t start,
                        const char *path);

/* NULL is allowed. */
void mapped_files_close(struct mapped_files *files);

#endif
