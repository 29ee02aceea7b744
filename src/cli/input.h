/* SPDX-License-Identifier: MIT */
/*
 * input.h -- the files that a command was given, as one profile. Says on stderr
 * what is wrong with each of them.
 */
#ifndef CLI_INPUT_H
#define CLI_INPUT_H

#include <stdbool.h>

struct profile;

/*
 * Read COUNT files ("-": standard input) into a new profile. What is valid in a
 * damaged file is used; a file that cannot be used at all is left out. With
 * KEEPS_EVENTS the profile knows when its samples were (profile/events.h);
 * with FULL_NAMES its functions have them (enum demangle_form). Returns NULL if
 * nothing was valid in any of them.
 */
struct profile *input_load(char *const *paths, int count, bool keeps_events,
                           bool full_names);

/* The exit status of a command that has read PROFILE and would end with STATUS:
 * it has failed if a file was left out, or a filter has left nothing. */
int input_status(const struct profile *profile, int status);

#endif
