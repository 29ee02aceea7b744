/* SPDX-License-Identifier: MIT */
/*
 * misspelt.h -- tells the user of variables that only look like settings, and
 * of wrong values, once for a tree of processes.
 */
#ifndef AGENT_MISSPELT_H
#define AGENT_MISSPELT_H

/* Write one line on stderr (NOTE_ERROR) for each "SPROF_NAME=value" of
 * ENVIRONMENT that is no setting. What the parent process has told of is left
 * out. In the constructor. */
void misspelt_tell(char *const environment[]);

/* Say that nothing is profiled because of ERROR ("SPROF_NAME=value: ...", from
 * options_parse with ENVIRONMENT), unless the parent has said it. In the
 * constructor. */
void misspelt_refuse(const char *error, char *const environment[]);

#endif
