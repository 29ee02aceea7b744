/* SPDX-License-Identifier: MIT */
/*
 * pprof.h -- adds a pprof profile (write/pprof.proto) to the model. A file that
 * `sprofile` wrote is restored, except for the times of its samples. A file of
 * another program is read as far as the model can hold it.
 */
#ifndef READ_PPROF_H
#define READ_PPROF_H

#include <stdbool.h>
#include <stddef.h>

#include "model/profile.h"

/* Whether LENGTH bytes begin like a pprof profile, compressed or not. */
bool pprof_recognize(const void *bytes, size_t length);

/*
 * Add the profile of LENGTH bytes. Its samples need not be in any order of
 * time. If PROFILE keeps events, these follow one another in each thread.
 * Frames that the file's drop_frames name are left out (prune.h). Returns 0,
 * with *WRONG NULL, or part of a sentence if those are not understood.
 * Otherwise returns -1: *WRONG is part of a sentence, "it is damaged", or NULL
 * if memory is short. A wrong file adds only strings to PROFILE; if memory is
 * short, parts of it may have been added.
 */
int pprof_read(struct profile *profile, const void *bytes, size_t length,
               const char **wrong);

#endif
