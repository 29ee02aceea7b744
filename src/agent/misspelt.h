/* SPDX-License-Identifier: MIT */
/*
 * misspelt.h -- tells of variables that look like settings and are none, once
 * for a tree of processes.
 */
#ifndef AGENT_MISSPELT_H
#define AGENT_MISSPELT_H

/* One line on stderr (NOTE_ERROR) for each "SPROF_NAME=value" of ENVIRONMENT
 * that is no setting, unless the parent process has told of it. In the
 * constructor. */
void misspelt_tell(char *const environment[]);

#endif
