/* SPDX-License-Identifier: MIT */
/*
 * inputs.h -- the input of the reading commands: the files of the command line,
 * as one profile, and the selection of samples. Problems with a file are
 * reported on stderr. The values of such a command begin with a struct
 * filter_options.
 */
#ifndef CLI_INPUTS_H
#define CLI_INPUTS_H

#include "view/filter.h"
#include "command.h"

/* The options that select samples, and the form of function names. */
extern const struct command_option inputs_options[];

/* The command_option.take of --thread, --state and --module (labels that every
 * profile has; the words are the key, if it is not the name), of --label, and
 * of
 * --focus and --ignore (the number is an enum filter_kind). */
int inputs_take_value(const struct command_option *option, void *filter,
                      const char *value);
int inputs_take_label(const struct command_option *option, void *filter,
                      const char *pair);
#define INPUTS_LABEL inputs_take_label, .words = "KEY=VALUE"
#define INPUTS_MODULE inputs_take_value, .words = FILTER_MODULE_KEY
int inputs_take_expression(const struct command_option *option, void *filter,
                           const char *expression);

/* For command.release. */
void inputs_release(void *values);

/* Whether PATH can be read only once: "-" (standard input) or a pipe. */
bool inputs_is_stream(const char *path);

/*
 * Read COUNT files ("-": standard input; pipes are read to their end) into a
 * new profile, and keep what FILTER selects. The valid part of a damaged file
 * is used; a file without a valid part is left out. A message is printed if no
 * sample is selected. With KEEPS_EVENTS the profile has the times of its
 * samples (model/events.h). Returns NULL after a message if no file has a valid
 * part.
 */
struct profile *inputs_load(const struct filter_options *filter,
                            char *const *paths, int count, bool keeps_events);

/* The exit status of a command that has read PROFILE and would end with STATUS.
 * It is STATUS_FAILED if a file was left out, or if a filter left nothing. */
int inputs_status(const struct profile *profile, int status);

#endif
