/* SPDX-License-Identifier: MIT */
/*
 * output.h -- a file that appears whole or not at all: written under another
 * name in the same directory, then renamed. Mode 0600; a symbolic link at the
 * name is replaced, never followed. Report side only.
 */
#ifndef WRITE_OUTPUT_H
#define WRITE_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/formats.h"
#include "profile/profile.h"

/* Whether the format that the ending of PATH names tells when samples were:
 * then the profile must keep its events (profile/events.h). */
bool output_needs_events(const char *path);
bool output_format_needs_events(enum format format);

/*
 * Write PROFILE to PATH in the format that its ending names. Returns 0, or -1
 * with a sentence in ERROR (of SIZE bytes); what was at PATH is then still
 * there, and nothing else is left behind.
 */
int output_write(const char *path, struct profile *profile, char *error,
                 size_t size);

/* The same in a known FORMAT, whatever the ending of PATH; "-" is standard
 * output, which may have a part of the profile when that fails. */
int output_write_as(const char *path, enum format format,
                    struct profile *profile, char *error, size_t size);

#endif
