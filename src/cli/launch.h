/* SPDX-License-Identifier: MIT */
/*
 * launch.h -- starts the program of a recording and stays beside it: signals
 * are the program's, the exit status is the program's.
 */
#ifndef CLI_LAUNCH_H
#define CLI_LAUNCH_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct launch {
    char *const *command; /* as for execvp(3) */
    const char *library;  /* to preload */
    /* "NAME=value" strings, ending with NULL, instead of the environment's. */
    const char *const *settings;
    pid_t pid;          /* of the program, once started */
    sigset_t set, mask; /* what is waited for; the mask before */
};

/* Where libsprof.so is: beside this command, or where both are installed.
 * Returns 0, or -1 with a sentence in ERROR. */
int launch_find_library(char *path, size_t size, char *error,
                        size_t error_size);

/* Start the program. Until launch_wait has returned, signals that come are kept
 * for it. Returns 0, or an error number: ENOENT if there is no such program. */
int launch_start(struct launch *launch);

/* Wait until the program has ended, and call TICK(CONTEXT) twice a second
 * meanwhile. A signal that was sent to this process is passed on; what the
 * terminal sent, the program has got itself. Returns the status, as a shell
 * has it: 128 + n for signal n. */
int launch_wait(struct launch *launch, void (*tick)(void *), void *context);

#endif
