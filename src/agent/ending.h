/* SPDX-License-Identifier: MIT */
/*
 * ending.h -- the end of a profile: sampling stops, and its files are written.
 * The thread that ends the process may have interrupted malloc: it neither
 * allocates nor locks, and leaves all work to the sampler's thread. Then it
 * prints the result, and what went wrong, on stderr.
 */
#ifndef AGENT_ENDING_H
#define AGENT_ENDING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/settings.h"
#include "store/layout.h"
#include "config.h"
#include "sampler.h"

/* The end takes at most this many ns longer than SPROF_EXIT_MS: the sampler may
 * not stop in time, or the kernel may not end the writer. */
#define ENDING_MORE_NS 5000000000u

struct ending {
    enum end_reason reason;
    int signo;     /* that kills the process, or 0 */
    pid_t ender;   /* the thread that ends it */
    bool is_image; /* the process goes on, and its last profile gets the plain
                      names */
    const struct config *config;
    const struct settings *settings;
    struct config_files *files;
    const char *complaint; /* why there is no spool, or "" */
};

/* Stop sampling, write the profile and report the result. The caller is the
 * thread that ends the process, once at a time. */
void ending_run(const struct ending *ending);

/* The end of a process in which sampling has not begun. */
void ending_briefly(const struct ending *ending);

#endif
