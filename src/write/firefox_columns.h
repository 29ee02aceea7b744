/* SPDX-License-Identifier: MIT */
/*
 * firefox_columns.h -- what a thread of a Firefox profile did, and when: its
 * samples (firefox_markers.h has its markers). Only for the firefox*.c files.
 */
#ifndef WRITE_FIREFOX_COLUMNS_H
#define WRITE_FIREFOX_COLUMNS_H

#include "util/json.h"
#include "view/timeline.h"
#include "firefox_tables.h"

/* A profile that is being written. */
struct firefox {
    struct profile *profile;
    struct json json;
    struct firefox_tables tables;
    struct timeline timeline;
    uint32_t *names;   /* of each sample: the string for its state */
    uint32_t *objects; /* of each sample: the string for what it waits on */
    bool *is_main;     /* of each thread: it stands for its process */
    uint32_t start_text, end_text, lost_text; /* strings */
    uint32_t *label_keys,
        *label_values;    /* strings of each of profile->labels */
    uint32_t *mark_names; /* string of each mark */
    uint32_t *mark_order; /* marks by their thread */
    size_t *mark_first; /* of each thread in MARK_ORDER; one more at the end */
};

/* Write the table "samples" of THREAD. */
void firefox_columns_write_samples(struct firefox *firefox, uint32_t thread);

#endif
