/* SPDX-License-Identifier: MIT */
/*
 * firefox_columns.h -- what a thread of a Firefox profile did and when: its
 * samples (its markers are in firefox_markers.h). For firefox.c alone.
 */
#ifndef WRITE_FIREFOX_COLUMNS_H
#define WRITE_FIREFOX_COLUMNS_H

#include "profile/timeline.h"

#include "firefox_tables.h"
#include "json.h"

/* A profile on its way out. */
struct firefox {
    struct profile *profile;
    struct json json;
    struct firefox_tables tables;
    struct timeline timeline;
    uint32_t *names;   /* of each sample: the string for its state */
    uint32_t *objects; /* and for what it waits on */
    bool *is_main;     /* of each thread: it stands for its process */
    uint32_t start_text, end_text, lost_text; /* strings */
    uint32_t *label_keys, *label_values;      /* of each of profile->labels */
    uint32_t *mark_names;                     /* of each of the marks */
    uint32_t *mark_order;                     /* marks by their thread */
    size_t *mark_first; /* of each thread, in that; one more at the end */
};

/* Write the table "samples" of THREAD. */
void firefox_columns_write_samples(struct firefox *firefox, uint32_t thread);

#endif
