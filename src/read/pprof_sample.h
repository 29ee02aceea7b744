/* SPDX-License-Identifier: MIT */
/*
 * pprof_sample.h -- decodes a sample of a pprof file: its stack, its values in
 * our units, and its labels. For pprof.c alone.
 */
#ifndef READ_PPROF_SAMPLE_H
#define READ_PPROF_SAMPLE_H

#include <stddef.h>
#include <stdint.h>

#include "model/label_sets.h"
#include "pprof_tables.h"

/* The labels of a sample; NULL, or 0, where it does not have one. */
struct pprof_labels {
    const char *thread, *process, *state, *waits_on;
    uint64_t tid;
    struct label_pair others[LABEL_SETS_DEPTH];
    unsigned other_count;
};

struct pprof_sample {
    struct pprof_tables tables;  /* first, for callbacks */
    uint64_t scale[VALUE_COUNT]; /* to our units; 0: there is no such type */
    unsigned type_of[VALUE_COUNT], type_count;
    bool counts_samples; /* the first count's name has "sample" in it */

    uint32_t *stack; /* indexes of locations, leaf first */
    size_t depth, room;
    uint64_t values[VALUE_COUNT];
    struct pprof_labels labels;
};

/* How many ns UNIT has, 0 if it is no unit of time. */
uint64_t pprof_sample_unit(const char *unit);

/* Read the words of the ValueType in MESSAGE. Returns 0, or -1 as in
 * pprof_tables.h, like all functions that follow. */
int pprof_sample_read_type(struct pprof_tables *tables, struct wire message,
                           const char **type, const char **unit);

/* Take one of the file's types of values, for pprof_tables_each. */
int pprof_sample_add_type(struct pprof_tables *tables, struct wire message);

/* Decode the sample in MESSAGE. The caller frees SAMPLE->stack
 * after the last one. */
int pprof_sample_decode(struct pprof_sample *sample, struct wire message);

#endif
