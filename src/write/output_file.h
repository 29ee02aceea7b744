/* SPDX-License-Identifier: MIT */
/*
 * output_file.h -- a file that appears whole or not at all. It is written under
 * another name in the same directory, then renamed. Its mode is 0600. A
 * symbolic link at the name is replaced, never followed. Report side only.
 */
#ifndef WRITE_OUTPUT_FILE_H
#define WRITE_OUTPUT_FILE_H

#include <stddef.h>
#include <stdio.h>

#include "base/formats.h"
#include "model/profile.h"

/*
 * The functions of the table of formats, each in the file of its name. They
 * write PROFILE to STREAM and return 0, or -1 with errno set. PROFILE must keep
 * its events if the row says so.
 */
#define FORMAT(id, ending, words, needs_events, wall, write) \
    int write(FILE *stream, struct profile *profile);
FORMAT_TABLE(FORMAT)
#undef FORMAT

/* The content of a file. A writer begins its own structure with this one. */
struct output_content {
    int (*write)(FILE *stream, const struct output_content *content);
};

/*
 * Write CONTENT to PATH; "-" is standard output, which may have received a part
 * on failure. Returns 0, or -1 with a sentence in ERROR (of SIZE bytes). On
 * failure the old file at PATH is still there, and no other file remains.
 */
int output_file_make(const char *path, const struct output_content *content,
                     char *error, size_t size);

/*
 * Write PROFILE to PATH in the format of its ending. Returns as
 * output_file_make does.
 */
int output_file_write(const char *path, struct profile *profile, char *error,
                      size_t size);

/* The same in FORMAT, whatever the ending of PATH. */
int output_file_write_as(const char *path, enum format format,
                         struct profile *profile, char *error, size_t size);

#endif
