/* SPDX-License-Identifier: MIT */
/*
 * launch.h -- checks and starts the program of a recording, and waits for its
 * end. The dynamic linker must be able to preload a library into it. Signals
 * are passed on to the program, and its exit status becomes that of the
 * command.
 */
#ifndef CLI_RECORD_LAUNCH_H
#define CLI_RECORD_LAUNCH_H

#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct launch {
    char *const *command; /* as for execvp(3) */
    const char *library;  /* path of the library to preload */
    /* Of launch_check: why the library is in the programs that this one starts,
     * and not in itself; or "". Whether musl's dynamic linker has to ignore
     * it. */
    char only_children[PATH_MAX + 64];
    bool is_musl;
    pid_t pid;    /* of the program, after launch_start */
    int status;   /* of the program, in the form of wait(2), after its end */
    uint64_t cpu; /* CPU time of the program and its reaped children, ns */
    sigset_t set, mask; /* signals that are waited for; the mask before */
};

/* Store the path of libsprof.so in PATH (of SIZE bytes). It is beside this
 * command, or in the directory where both are installed. Returns 0, or -1 with
 * a sentence in ERROR. */
int launch_find_library(char *path, size_t size, char *error,
                        size_t error_size);

/*
 * Check the file that execvp(3) would run for the command, and the interpreters
 * that scripts name. Returns 0, or -1 with a sentence in WHY (of SIZE bytes).
 * The file is refused if it is for another machine, changes its user (ld.so(8),
 * secure-execution mode), or has a dynamic linker that takes no library of
 * glibc and is not musl's. A static program, or one of musl, may start others.
 * A file that cannot be read is accepted here; the exec decides.
 */
int launch_check(struct launch *launch, char *why, size_t size);

/* Set the variable NAME for the program, and for this process. Returns 0, or -1
 * with errno set. */
int launch_set(const char *name, const char *value);

/* Start the program. Until launch_wait returns, signals for this process are
 * kept for the program. Returns 0, or an error number: ENOENT if the program
 * does not exist. */
int launch_start(struct launch *launch);

/* Wait until the program ends, and call TICK(CONTEXT) twice a second meanwhile.
 * A signal that was sent to this process is passed on. A signal from the
 * terminal reaches the program directly and is not. Returns the status as a
 * shell does: 128 + n for signal n. */
int launch_wait(struct launch *launch, void (*tick)(void *), void *context);

#endif
