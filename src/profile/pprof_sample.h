/* SPDX-License-Identifier: MIT */
/*
 * pprof_sample.h -- a sample of a pprof file, decoded: its stack, its values in
 * our units, and the labels that we know. For pprof_read.c alone.
 */
#ifndef PROFILE_PPROF_SAMPLE_H
#define PROFILE_PPROF_SAMPLE_H

#include <stddef.h>
#include <stdint.h>

#include "label_sets.h"
#include "pprof_tables.h"

/* NULL, or 0, where a sample does not have the label. */
struct pprof_labels {
    const char *thread, *process, *state, *waits_on;
    uint64_t tid;
    struct label_pair others[LABEL_SETS_DEPTH];
    unsigned other_count;
};

struct pprof_sample {
    struct pprof_tables tables;  /* first, for callbacks */
    uint64_t scale[VALUE_COUNT]; /* of the types; 0: there is none */
    unsigned type_of[VALUE_COUNT], type_count;
    bool counts_samples; /* the first count is called so */

    uint32_t *stack; /* locations, leaf first */
    size_t depth, room;
    uint64_t values[VALUE_COUNT];
    struct pprof_labels labels;
};

/* ns in a UNIT, 0 if it is no unit of time. */
uint64_t pprof_sample_unit(const char *unit);

/* The words of the ValueType in MESSAGE. Returns 0, or -1 as in
 * pprof_tables.h, like all that follow. */
int pprof_sample_read_type(struct pprof_tables *tables, struct wire message,
                           const char **type, const char **unit);

/* Take one of the file's types of values, for pprof_tables_each. */
int pprof_sample_add_type(struct pprof_tables *tables, struct wire message);

/* The sample in MESSAGE. The stack is the caller's to free in the end. */
int pprof_sample_decode(struct pprof_sample *sample, struct wire message);

#endif
