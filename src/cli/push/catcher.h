/* SPDX-License-Identifier: MIT */
/*
 * catcher.h -- opens spools as soon as they appear in a directory, on a thread
 * of its own. A process may live for a few milliseconds, and its spool is
 * removed at its end, while the caller looks up names for a second.
 */
#ifndef CLI_PUSH_CATCHER_H
#define CLI_PUSH_CATCHER_H

#include <stddef.h>

struct catcher;

/* Begin. NULL with errno set on failure. */
struct catcher *catcher_new(void);

/* Watch the directory PATH. Returns 0, or -1 with errno set. */
int catcher_watch(struct catcher *catcher, const char *path);

/* A descriptor that can be read when a spool was caught. */
int catcher_fd(const struct catcher *catcher);

/* Take a spool that was caught. Returns its descriptor, which the caller
 * closes, and its PATH, of SIZE bytes; or -1 if none waits. */
int catcher_take(struct catcher *catcher, char *path, size_t size);

/* End the thread; NULL is allowed. */
void catcher_free(struct catcher *catcher);

#endif
