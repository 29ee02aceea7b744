/* SPDX-License-Identifier: MIT */
/*
 * script_names.h -- the functions of interpreters by number. Each is written to
 * the spool once, when it is first seen on a stack. Its description lies in the
 * program's memory and may be freed at any time. So a sum of it is read again
 * for each harvest: between two equal sums it was the same function.
 * Context: sampler.
 */
#ifndef JOURNAL_SCRIPT_NAMES_H
#define JOURNAL_SCRIPT_NAMES_H

#include "unwind/script.h"

/* Set the number of the function of each frame in SCRIPT, which may be NULL. It
 * is 0 if the function can no longer be found out. */
void script_names_resolve(struct script *script);

#endif
