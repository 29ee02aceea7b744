/* SPDX-License-Identifier: MIT */
/*
 * pprof_file.h -- decodes a pprof file: its samples, and the texts, mappings,
 * and locations with functions to which they refer. Those may be anywhere in
 * the file and have any ids. For pprof.c alone.
 */
#ifndef READ_PPROF_FILE_H
#define READ_PPROF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/label_sets.h"
#include "model/profile.h"
#include "util/intern.h"
#include "util/wire.h"
#include "prune.h"

/* The fields of a profile (pprof.proto). */
enum pprof_field {
    PPROF_SAMPLE_TYPE = 1,
    PPROF_SAMPLE = 2,
    PPROF_MAPPING = 3,
    PPROF_LOCATION = 4,
    PPROF_FUNCTION = 5,
    PPROF_STRING = 6,
    PPROF_DROP_FRAMES = 7,
    PPROF_KEEP_FRAMES = 8,
    PPROF_TIME = 9,
    PPROF_DURATION = 10,
    PPROF_PERIOD_TYPE = 11,
    PPROF_PERIOD = 12,
    PPROF_COMMENT = 13,
};

/* A string of the file, and the same as a clean string. */
struct pprof_text {
    struct wire raw;
    const char *clean; /* NULL until it is asked for */
};

struct pprof_mapping {
    /* Addresses in memory from START to LIMIT; OFFSET of START in the file. */
    uint64_t start, limit, offset;
    const char *path, *build_id;
    uint32_t names;  /* enum module_names */
    uint32_t script; /* of functions that an interpreter ran: their flags */
    uint32_t module; /* of the profile, for pprof.c */
};

struct pprof_function {
    struct symbol_frame frame;
    bool is_dropped; /* prune.h */
};

struct pprof_location {
    uint64_t address;
    uint32_t mapping;    /* index, or PPROF_NO_MAPPING */
    uint32_t flags;      /* NODE_TRUNCATED or alike for a marker, else 0 */
    uint32_t known_node; /* node for a stack of this alone, else 0 */
    /* Whether a frame was dropped, and the frames called from it. If the
     * outermost was, the symbol is whole, and IS_DROPPED. */
    bool is_cut, is_dropped;
    struct symbol symbol;
};
#define PPROF_NO_MAPPING UINT32_MAX

/* The labels of a sample; NULL or 0 for a missing one. */
struct pprof_labels {
    const char *thread, *process, *state, *waits_on;
    uint64_t tid;
    struct label_pair others[LABEL_SETS_DEPTH];
    unsigned other_count;
};

struct pprof_file {
    struct profile *profile;
    struct pprof_text *texts;
    size_t text_count;
    struct intern mapping_ids, function_ids, location_ids;
    struct pprof_mapping *mappings;
    struct pprof_function *functions;
    struct pprof_location *locations; /* memory of the profile */
    uint32_t mapping_count, function_count, location_count;
    const char *wrong; /* what is wrong with the file; NULL: nothing */
    const char *drop_frames, *keep_frames; /* "" if it has none */
    struct prune prune;
    bool is_not_pruned; /* DROP and KEEP are not understood */

    /* The types of values, and the current sample. */
    uint64_t scale[VALUE_COUNT]; /* to our units; 0: no such type */
    unsigned type_of[VALUE_COUNT], type_count;
    bool counts_samples; /* the first count's name has "sample" in it */

    uint32_t *stack; /* indexes of locations, leaf first */
    size_t depth, room;
    uint64_t values[VALUE_COUNT];
    struct pprof_labels labels;
};

/* Read the tables of WHOLE. Returns 0, or -1 with FILE->wrong set, which is
 * NULL if memory is short. pprof_file_release is due in both cases. */
int pprof_file_read(struct pprof_file *file, struct profile *profile,
                    struct wire whole);

/* Return text NUMBER as a clean string that lives as long as the profile. NULL
 * with FILE->wrong set, or NULL if memory is short. */
const char *pprof_file_text(struct pprof_file *file, uint64_t number);

/* Call USE for each field NUMBER of WHOLE, which must be messages. USE returns
 * 0, or -1, which ends the calls. Returns 0, or -1 as above. */
int pprof_file_each(struct pprof_file *file, struct wire whole,
                    enum pprof_field number,
                    int (*use)(struct pprof_file *, struct wire));

/* Set FILE->wrong to WRONG. Returns -1, for callers to return. */
int pprof_file_refuse(struct pprof_file *file, const char *wrong);

/* The number of ns in UNIT, 0 if it is no unit of time. */
uint64_t pprof_file_unit(const char *unit);

/* Read the words of the ValueType in MESSAGE. Returns 0, or -1 as above, like
 * all functions that follow. */
int pprof_file_type(struct pprof_file *file, struct wire message,
                    const char **type, const char **unit);

/* Take one of the file's types of values, for pprof_file_each. */
int pprof_file_add_type(struct pprof_file *file, struct wire message);

/* The file has a period of TYPE, PERIOD ns of time. If it has no type that is a
 * time, its samples stand for their count times PERIOD. All types were taken.
 */
void pprof_file_time_by_period(struct pprof_file *file, const char *type,
                               uint64_t period);

/* Decode the sample in MESSAGE into FILE's current sample. */
int pprof_file_sample(struct pprof_file *file, struct wire message);

void pprof_file_release(struct pprof_file *file);

#endif
