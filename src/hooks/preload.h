/* SPDX-License-Identifier: MIT */
/*
 * preload.h -- the environment of a program that is about to be started.
 * A dynamic linker other than glibc's ends a program because of this library in
 * LD_PRELOAD. Such a program gets an environment without it, or with it in a
 * form that this linker ignores (base/program.h). All other programs get the
 * environment that they were given.
 *
 * The caller has the memory, on its stack: a child of vfork(2) that executes a
 * program could not release any.
 *
 * errno keeps its value. Context: any.
 */
#ifndef HOOKS_PRELOAD_H
#define HOOKS_PRELOAD_H

#include <stddef.h>

struct preload {
    size_t words;     /* pointers that preload_change needs; 0: no change */
    size_t count;     /* of the variables */
    size_t at;        /* the index of LD_PRELOAD */
    const char *form; /* what precedes our path; NULL: it is left out */
};

/* Look at the program PATH, relative to DIRECTORY as in openat(2), that is to
 * be started with ENVIRONMENT. */
void preload_look(struct preload *preload, int directory, const char *path,
                  char *const environment[]);

/* Return the environment for the program. It is ENVIRONMENT, or a copy in
 * MEMORY, which has room for PRELOAD->words pointers. */
char *const *preload_change(const struct preload *preload,
                            char *const environment[], char *memory[]);

#endif
