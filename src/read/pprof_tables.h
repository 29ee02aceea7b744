/* SPDX-License-Identifier: MIT */
/*
 * pprof_tables.h -- what the samples of a pprof file refer to: its texts, its
 * mappings, and its locations with their functions. They may stand anywhere in
 * the file and have any ids. For pprof.c and pprof_sample.c.
 */
#ifndef READ_PPROF_TABLES_H
#define READ_PPROF_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/profile.h"
#include "util/intern.h"
#include "util/wire.h"

/* The fields of a profile (pprof.proto). */
enum pprof_field {
    PPROF_SAMPLE_TYPE = 1,
    PPROF_SAMPLE = 2,
    PPROF_MAPPING = 3,
    PPROF_LOCATION = 4,
    PPROF_FUNCTION = 5,
    PPROF_STRING = 6,
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
    uint32_t names; /* enum module_names */
};

struct pprof_location {
    uint64_t address;
    uint32_t mapping;    /* index, or PPROF_NO_MAPPING */
    uint32_t flags;      /* NODE_TRUNCATED or alike for a marker, else 0 */
    uint32_t known_node; /* node for a stack of this alone, else 0 */
    struct symbol symbol;
};
#define PPROF_NO_MAPPING UINT32_MAX

struct pprof_tables {
    struct profile *profile;
    struct pprof_text *texts;
    size_t text_count;
    struct intern mapping_ids, function_ids, location_ids;
    struct pprof_mapping *mappings;
    struct symbol_frame *functions;
    struct pprof_location *locations; /* memory of the profile */
    uint32_t mapping_count, function_count, location_count;
    const char *wrong; /* what is wrong with the file; NULL: nothing */
};

/* Read the tables of WHOLE. Returns 0, or -1 with TABLES->wrong set, which is
 * NULL if memory is short. pprof_tables_release is due in both cases. */
int pprof_tables_read(struct pprof_tables *tables, struct profile *profile,
                      struct wire whole);

/* Return text NUMBER as a clean string that lives as long as the profile. NULL
 * with TABLES->wrong set, or NULL if memory is short. */
const char *pprof_tables_text(struct pprof_tables *tables, uint64_t number);

/* Call USE for each field NUMBER of WHOLE, which must be messages. USE returns
 * 0, or -1, which ends the calls. Returns 0, or -1 as above. */
int pprof_tables_each(struct pprof_tables *tables, struct wire whole,
                      enum pprof_field number,
                      int (*use)(struct pprof_tables *, struct wire));

/* Read the numbers of MESSAGE's fields below COUNT, the last of each. Fields
 * that are no numbers are left at 0. Returns 0, or -1 as above. */
int pprof_tables_numbers(struct pprof_tables *tables, struct wire message,
                         uint64_t *numbers, unsigned count);

/* Set TABLES->wrong to WRONG. Returns -1, for callers to return. */
int pprof_tables_refuse(struct pprof_tables *tables, const char *wrong);

void pprof_tables_release(struct pprof_tables *tables);

#endif
