/* SPDX-License-Identifier: MIT */
/*
 * sources.h -- the spools that are followed: those of all profiled processes
 * that this user may look at, and those in directories. A spool that is open
 * can be read to its end after the library has removed it. So a directory in
 * which a spool was seen is watched: then a process that lives for less than an
 * interval is seen, too.
 */
#ifndef CLI_PUSH_SOURCES_H
#define CLI_PUSH_SOURCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "cli/process/process.h"
#include "live/interval.h"
#include "util/intern.h"
#include "write/otlp.h"

struct source {
    struct interval *interval;
    char *path;
    struct process process; /* valid if HAS_PROCESS */
    bool has_process;       /* it lived at the last look */
    bool is_foreign;        /* its pid counts in another namespace */
    struct otlp_resource resource;
    uint64_t ticked_at; /* ns of clock_now when the last tick was new */
    uint64_t tick;      /* ns since its start */
};

struct sources_directory {
    char *path;
    bool is_given; /* by the user; else only new spools are taken */
};

/* A spool: its name, its path, which is NULL if it is not known, and when it
 * was taken, ns of clock_now. */
struct sources_done {
    char *name, *path;
    uint64_t time;
};

struct catcher;

/* Limit of the spools that wait for their header. */
enum { SOURCES_EARLY = 64 };

struct sources {
    struct source *all;
    size_t count;
    struct symbolizer *symbolizer; /* of all sources; NULL: none yet */
    /* Made anew for each look: files that are followed, and the latest source
     * of each process, whose index is in LATEST by the number in PROCESSES. */
    struct intern followed, processes;
    size_t *latest;
    struct intern passed; /* files, as they are, that will not be followed */
    struct sources_done *done; /* taken whole */
    size_t done_count;
    struct sources_directory *directories;
    size_t directory_count;
    struct catcher *catcher;
    int early[SOURCES_EARLY]; /* spools that were caught without a header */
    unsigned early_count;
    uint64_t begun; /* ns since the epoch */
    bool is_closed; /* no spool is looked for elsewhere */
};

/* A descriptor that can be read when sources_look has something to do. */
int sources_fd(const struct sources *sources);

/* Begin with the DIRECTORIES, a list that ends with NULL. If ONLY is not NULL,
 * spools are taken from this directory and from DIRECTORIES alone. Returns 0,
 * or -1 with errno set. */
int sources_begin(struct sources *sources, const char *const *directories,
                  const char *only);

/* Go on from what sources_state_save wrote to STATE. A message names each spool
 * that is gone. */
void sources_state_resume(struct sources *sources, FILE *state);

/* Look for spools that are not followed yet. Returns whether there may be one
 * that cannot be opened yet. */
bool sources_look(struct sources *sources);

/* Call USE with what each process did since the last call. Spools that are
 * complete are then forgotten. */
void sources_take(struct sources *sources,
                  void (*use)(struct profile *profile,
                              const struct otlp_resource *resource,
                              void *context),
                  void *context);

/* Write all positions to STREAM. SOURCES is a struct sources. */
void sources_state_save(FILE *stream, void *sources);

void sources_end(struct sources *sources);

#endif
