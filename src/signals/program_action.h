/* SPDX-License-Identifier: MIT */
/*
 * program_action.h -- the dispositions that the program has set for numbers
 * where our handler stands. Threads may set one at the same time, a handler may
 * read it meanwhile, and a signal may interrupt each of them. A disposition is
 * read as a whole. A thread that sets one gets the one before its own, as with
 * sigaction(2). Context: any.
 */
#ifndef SIGNALS_PROGRAM_ACTION_H
#define SIGNALS_PROGRAM_ACTION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/sys.h"

/* The disposition of SIGNO, from 1 to 64; the default one if none was ever set.
 * If VERSION is not NULL, *VERSION becomes the number of the change that made
 * it. */
struct sys_action program_action_get(int signo, uint32_t *version);

/* The number of the last change of SIGNO's disposition. */
uint32_t program_action_version(int signo);

/* Set the disposition of SIGNO to ACTION. Returns the one before. */
struct sys_action program_action_set(int signo,
                                     const struct sys_action *action);

/* The same, unless it was changed after VERSION. */
void program_action_replace(int signo, uint32_t version,
                            const struct sys_action *action);

#endif
