/* SPDX-License-Identifier: MIT */
/*
 * inputs.h -- loads the files that a command was given as one profile. What is
 * wrong with a file is reported on stderr.
 */
#ifndef CLI_INPUTS_H
#define CLI_INPUTS_H

#include <stdbool.h>

struct profile;

/* Whether PATH can be read only once: "-" (standard input) or a pipe. */
bool inputs_is_stream(const char *path);

/*
 * Read COUNT files ("-": standard input; pipes are read to their end) into a
 * new profile. The valid part of a damaged file is used; a file without a valid
 * part is left out. With KEEPS_EVENTS the profile has the times of its samples
 * (model/events.h). With FULL_NAMES its functions have full names (enum
 * demangle_form). Returns NULL if no file has a valid part.
 */
struct profile *inputs_load(char *const *paths, int count, bool keeps_events,
                            bool full_names);

/* The exit status of a command that has read PROFILE and would end with STATUS.
 * It is STATUS_FAILED if a file was left out, or if a filter left nothing. */
int inputs_status(const struct profile *profile, int status);

#endif
