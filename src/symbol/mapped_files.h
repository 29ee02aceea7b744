/* SPDX-License-Identifier: MIT */
/*
 * mapped_files.h -- the files that a living process has mapped, also those that
 * have gone from their paths: deleted, replaced by a new version, or moved. The
 * kernel still has them, and shows them in /proc/PID/map_files to those with
 * CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE, and the executable in /proc/PID/exe
 * to everybody who may look at the process. Report side only.
 */
#ifndef SYMBOL_MAPPED_FILES_H
#define SYMBOL_MAPPED_FILES_H

#include <stdint.h>

struct mapped_files;

/* Read the map of process PID. NULL if it has ended, is not ours to look at, or
 * memory is short. */
struct mapped_files *mapped_files_open(uint32_t pid);

/*
 * A path by which the file mapped at START can still be read, if it is no
 * longer at PATH, or the process has another root than we, or other mounts
 * (chroot, containers). To be freed; NULL if it is still there, nothing is
 * known of it or it cannot be read. Another process may have been given the
 * pid, so the caller makes sure (by the build-id) that the file is the right
 * one.
 */
char *mapped_files_find(const struct mapped_files *files, uint64_t start,
                        const char *path);

/* NULL is allowed. */
void mapped_files_close(struct mapped_files *files);

#endif
