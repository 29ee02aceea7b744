/* SPDX-License-Identifier: MIT */
/*
 * outputs.h -- the files to which a recording is written. Each `-o` names one
 * file, or several separated by commas, as SPROF_OUTPUT does. Therefore a name
 * cannot contain a comma.
 */
#ifndef CLI_OUTPUTS_H
#define CLI_OUTPUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct profile;

struct outputs {
    char **paths; /* in the order of the command line */
    size_t count;
};

/* Add the files that LIST names. Returns STATUS_DONE, or STATUS_USAGE after a
 * message: a name is empty or has an unknown ending. */
int outputs_add(struct outputs *outputs, const char *list);

/* Report that the ending of PATH names no format. Returns STATUS_USAGE. */
int outputs_refuse(const char *path);

/* Whether each file can be made in its directory. False after a message. */
bool outputs_have_place(const struct outputs *outputs);

/* Whether a format among them shows the times of samples. */
bool outputs_need_events(const struct outputs *outputs);

/* Write PROFILE to all files. With WALL, wall time is written in formats that
 * have one value for each stack. A message on stderr names each file that
 * cannot be written. The written files stay in OUTPUTS. Returns 0, or -1 if one
 * is missing. */
int outputs_write(struct outputs *outputs, struct profile *profile, bool wall);

/* The names in one line, which the caller frees; NULL if memory is short. */
char *outputs_names(const struct outputs *outputs);

/* Print commands that read the written files, if any. */
void outputs_say_next(const struct outputs *outputs, FILE *stream);

void outputs_release(struct outputs *outputs);

#endif
