/* SPDX-License-Identifier: MIT */
/*
 * runtimes.h -- how to make a runtime write the names of the code that it
 * generates.
 */
#ifndef SHOW_RUNTIMES_H
#define SHOW_RUNTIMES_H

#include "model/profile.h"

/* The command line with which the first known runtime of PROFILE writes names
 * for its code. NULL if no process runs a known runtime, or if it was already
 * run so. */
const char *runtimes_command(const struct profile *profile);

#endif
