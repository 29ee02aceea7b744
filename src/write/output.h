/* SPDX-License-Identifier: MIT */
/*
 * output.h -- a file that appears whole or not at all. It is written under
 * another name in the same directory, then renamed. Its mode is 0600. A
 * symbolic link at the name is replaced, never followed. Report side only.
 */
#ifndef WRITE_OUTPUT_H
#define WRITE_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/formats.h"
#include "model/profile.h"

/* Whether the format (that of the ending of PATH) tells the times of samples.
 * The profile must then keep its events (model/events.h). */
bool output_needs_events(const char *path);
bool output_format_needs_events(enum format format);

/*
 * Write PROFILE to PATH in the format of its ending. Returns 0, or -1 with a
 * sentence in ERROR (of SIZE bytes). On failure the file that was at PATH is
 * still there, and no other file is left behind.
 */
int output_write(const char *path, struct profile *profile, char *error,
                 size_t size);

/* The same in FORMAT, whatever the ending of PATH. The path "-" is standard
 * output, which may have received a part of the profile on failure. */
int output_write_as(const char *path, enum format format,
                    struct profile *profile, char *error, size_t size);

#endif
