/* SPDX-License-Identifier: MIT */
/*
 * helper.h -- a command of this program that runs beside the recorded program,
 * in a process of its own: `sprofile serve` or `sprofile push`. It ends at the
 * latest when this process ends.
 */
#ifndef CLI_RECORD_HELPER_H
#define CLI_RECORD_HELPER_H

#include <sys/types.h>

struct helper {
    pid_t pid;      /* 0: none */
    char line[128]; /* what it has printed first, without the newline */
};

/*
 * Start this program with ARGUMENTS, a list that ends with NULL and begins with
 * the program's name. Wait until it has printed a line, by which it says that
 * it has begun. Returns 0; or the exit status of the helper, which has printed
 * a message; or -1 with errno set.
 */
int helper_start(struct helper *helper, const char *const *arguments);

/* Ask the helper to end, and wait for that. HELPER may be empty. */
void helper_end(struct helper *helper);

#endif
