/* SPDX-License-Identifier: MIT */
/*
 * load.h -- adds whole files to a profile, and reports their problems in
 * sentences.
 */
#ifndef READ_LOAD_H
#define READ_LOAD_H

#include <stdbool.h>
#include <stddef.h>

#include "model/profile.h"

/*
 * Add the spool or the pprof file at PATH. Returns 0, or -1 without anything to
 * use: the file is neither, has no valid record, or memory is short. ERROR (of
 * SIZE bytes) becomes one line with the reason, or with the problem in the rest
 * of the file; "" if all was well.
 */
int load_file(struct profile *profile, const char *path, char *error,
              size_t size);

/* Whether the file at PATH is of a flight recorder. load_file then adds the
 * spool before it, too (NAME.past.sprof beside NAME.sprof). */
bool load_is_recorder(const char *path);

/* As load_file, for LENGTH bytes in memory, which sentences call
 * NAME. */
int load_memory(struct profile *profile, const void *bytes, size_t length,
                const char *name, char *error, size_t size);

/* Note that all processes of PROFILE used TREE_CPU ns of CPU time by the
 * kernel's account. The part that neither they nor the sampler report is kept
 * if it is at least a percent and a millisecond. */
void load_note_tree(struct profile *profile, uint64_t tree_cpu);

#endif
