/* SPDX-License-Identifier: MIT */
/*
 * loader_list.h -- whether the loader has loaded modules that the module map
 * does not know. dlopen(3) has no hook. The loader keeps a list of its modules
 * for debuggers, and a new one becomes the last.
 * Context: sampler.
 */
#ifndef PROCESS_LOADER_LIST_H
#define PROCESS_LOADER_LIST_H

#include <stdbool.h>

/* The map is about to be read, and will have all that is in the list now. */
void loader_list_note(void);

/* Whether the list has grown since loader_list_note. One system call. */
bool loader_list_has_grown(void);

#endif
