/* SPDX-License-Identifier: MIT */
/*
 * filters.h -- the options that select the samples that a command reads, and
 * the form of function names. All reading commands share them. The values of
 * such a command begin with a struct filter_options.
 */
#ifndef CLI_FILTERS_H
#define CLI_FILTERS_H

#include "view/filter.h"
#include "command.h"

extern const struct command_option filters_options[];

/* The command_option.take of --thread and --state (labels that every profile
 * has), of --label, of --module, and of --focus and --ignore (the number is an
 * enum filter_kind). */
int filters_take_value(const struct command_option *option, void *filter,
                       const char *value);
int filters_take_label(const struct command_option *option, void *filter,
                       const char *pair);
#define FILTERS_LABEL filters_take_label, .words = "KEY=VALUE"
int filters_take_module(const struct command_option *option, void *filter,
                        const char *pattern);
int filters_take_expression(const struct command_option *option, void *filter,
                            const char *expression);

/* For command.release. */
void filters_release(void *values);

/* Load the COUNT files at PATHS (inputs.h) and keep what FILTER selects. A
 * message is printed if that is nothing. KEEPS_EVENTS is for commands that need
 * the times of samples themselves. Returns NULL after a message. */
struct profile *filters_load(const struct filter_options *filter,
                             char *const *paths, int count, bool keeps_events);

#endif
