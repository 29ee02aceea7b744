/* SPDX-License-Identifier: MIT */
/*
 * brief_file.h -- the file that holds the brief spools of many processes, one
 * behind the other (layout.h, NEXT). To make a file costs more than such a
 * process has used. Async-signal-safe.
 */
#ifndef AGENT_BRIEF_FILE_H
#define AGENT_BRIEF_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "config.h"

/* The name of that file, in the directory of the first output. */
#define BRIEF_FILE "brief.sprof"

struct brief_file {
    int fd;        /* locked until brief_file_end (flock(2)) */
    uint64_t size; /* in bytes: where the next spool begins, 0: the first */
};

/* Write the path of NAME beside the first output of FILES to PATH of SIZE
 * bytes. */
void brief_file_beside(const struct config_files *files, const char *name,
                       char *path, size_t size);

/* Open the file, and make it if there is none. ROOM is how many bytes may be
 * added. Returns 0. Returns -1 if that cannot be done at once: the file is
 * another user's, or other processes write to it. */
int brief_file_begin(struct brief_file *file, const struct config_files *files,
                     size_t room);

/* Add SIZE BYTES, all of them or none, and close the file. */
void brief_file_end(struct brief_file *file, const void *bytes, size_t size);

#endif
