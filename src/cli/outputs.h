/* SPDX-License-Identifier: MIT */
/*
 * outputs.h -- the files that one recording is written to: each `-o` names one,
 * or several with commas between them, as SPROF_OUTPUT does. A name cannot have
 * a comma, then.
 */
#ifndef CLI_OUTPUTS_H
#define CLI_OUTPUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct profile;

struct outputs {
    char **paths; /* in the order in which they were named */
    size_t count;
};

/* Add those that LIST names. Returns 0, or -1 after a complaint as COMMAND: a
 * name has no ending that is known, or is empty. */
int outputs_add(struct outputs *outputs, const char *command, const char *list);

/* Whether each of them can be made in its directory. False after a complaint as
 * COMMAND. */
bool outputs_have_place(const struct outputs *outputs, const char *command);

/* Whether one of them shows when samples were. */
bool outputs_need_events(const struct outputs *outputs);

/* Write PROFILE to all of them, as result_write does with WALL, or complain on
 * stderr about each that cannot be written. What was written is left in
 * OUTPUTS. Returns 0, or -1 if one is missing. */
int outputs_write(struct outputs *outputs, struct profile *profile, bool wall);

/* Their names in one line, for free; NULL if memory is short. */
char *outputs_names(const struct outputs *outputs);

/* Print what the user may do next with those that were written; nothing if no
 * command reads them. */
void outputs_say_next(const struct outputs *outputs, FILE *stream);

void outputs_release(struct outputs *outputs);

#endif
