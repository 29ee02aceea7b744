/* SPDX-License-Identifier: MIT */
/* sources_parts.h -- what the files of sources.h share. */
#ifndef CLI_PUSH_SOURCES_PARTS_H
#define CLI_PUSH_SOURCES_PARTS_H

#include "sources.h"

/* Follow the spool at PATH, unless it is known. PROCESS writes it, or NULL:
 * then it is looked for. SINCE: spools that began earlier are left out, ns
 * since the epoch. Returns the source, or NULL; *IS_EARLY: it has no header
 * yet. */
struct source *sources_follow(struct sources *sources, const char *path,
                              const struct process *process, uint64_t since,
                              bool *is_early);

/* Release what SOURCE has. It is not taken out of a list. */
void sources_release(struct source *source);

/* Watch the directory of the spool at PATH. */
void sources_watch_beside(struct sources *sources, const char *path);

/* Add a spool that was taken whole. PATH is NULL if it is not known. */
void sources_add_done(struct sources *sources, const char *name,
                      const char *path);

#endif
