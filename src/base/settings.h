/* SPDX-License-Identifier: MIT */
/*
 * settings.h -- what a profile is made with: the options, and what follows from
 * them in this process. Only one such struct exists. The agent renews it before
 * the sampler begins, field by field: a handler may read it meanwhile. All
 * other code only reads it, and a pointer to it stays valid.
 */
#ifndef BASE_SETTINGS_H
#define BASE_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "options.h"

struct settings {
    const struct options *options;
    pid_t pid;
    int signo;       /* by which threads are asked */
    uint64_t period; /* ns between two samples of a thread */
    uint64_t start;  /* of the profile, CLOCK_MONOTONIC ns */
    bool is_child;   /* of a fork: its thread's clock counts from 0 on */
    /* The sampler has its own descriptor table, so the program cannot close
     * what the sampler opens. Set by the sampler. */
    bool has_own_files;
    /* The program's first thread is in the profile from SINCE on
     * (CLOCK_MONOTONIC, 0: from when it is first seen). Its CPU clock read
     * CLOCK then. The time that it used before counts from BASE. */
    uint64_t since, clock, base;
};

/* Whether only registered threads are sampled. */
static inline bool
settings_registered_only(const struct settings *settings)
{
    return settings->options->threads.number == OPTION_THREADS_REGISTERED;
}

/* Whether each process leaves a spool, however short it was. */
static inline bool
settings_keeps_all(const struct settings *settings)
{
    return settings->options->keep_spool.number == OPTION_KEEP_SPOOL_ALL;
}

#endif
