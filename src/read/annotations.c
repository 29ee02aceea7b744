/* SPDX-License-Identifier: MIT */
/*
 * annotations.c -- see annotations.h. A program may use the key of one of our
 * labels. Such a key is renamed where it enters, so that all outputs agree.
 */
#include <stdio.h>

#include "model/label_sets.h"
#include "store/record.h"
#include "util/array.h"
#include "util/intern.h"
#include "annotations.h"

/* PREFIX stands before a key of the program that is also one of ours. */
#define PREFIX "program."

uint32_t
annotations_set(const struct spool_load *load, uint32_t id)
{
    return id == 0 ? 0 : spool_load_number(&load->labels, id);
}

/* KEY as outputs show it; NULL if memory is short. */
static const char *
shown_key(struct profile *profile, const char *key)
{
    if (!label_sets_is_reserved(key))
        return key;
    char longer[64];
    snprintf(longer, sizeof(longer), PREFIX "%s", key);
    return profile_string(profile, longer);
}

/* Collect in PAIRS the labels of PARENT except KEY, whose value there is
 * replaced. Returns their number. */
static unsigned
labels_without(const struct profile *profile, uint32_t parent, const char *key,
               struct label_pair *pairs)
{
    struct label_pair all[LABEL_SETS_DEPTH];
    unsigned count = label_sets_get(profile, parent, all), kept = 0;
    for (unsigned i = 0; i < count; i++)
        if (all[i].key != key)
            pairs[kept++] = all[i];
    return kept;
}

enum outcome
annotations_add_label(struct spool_load *load, const void *bytes)
{
    const struct record_label *record = bytes;
    struct profile *profile = load->profile;
    const char *key = spool_load_text(load, record->key);
    const char *value = spool_load_text(load, record->value);
    uint32_t parent = annotations_set(load, record->parent);
    if (record->id == 0 || record->parent >= record->id || key == NULL ||
        value == NULL || key[0] == '\0' || parent == INTERN_NONE ||
        spool_load_number(&load->labels, record->id) != INTERN_NONE)
        return SENSELESS;
    key = shown_key(profile, key);
    if (key == NULL)
        return FAILED;
    struct label_pair pairs[LABEL_SETS_DEPTH + 1];
    unsigned count = labels_without(profile, parent, key, pairs);
    if (count >= LABEL_SETS_DEPTH)
        return SENSELESS;
    pairs[count] = (struct label_pair){.key = key, .value = value};
    uint32_t set = label_sets_put(profile, pairs, count + 1);
    if (set == INTERN_NONE ||
        spool_load_define(&load->labels, record->id, set) != 0)
        return FAILED;
    return USED;
}

enum outcome
annotations_add_mark(struct spool_load *load, const void *bytes)
{
    const struct record_mark *record = bytes;
    struct profile *profile = load->profile;
    uint32_t labels = annotations_set(load, record->label);
    uint32_t thread = PROFILE_NO_THREAD;
    if (record->thread != 0)
        thread = spool_load_number(&load->threads, record->thread);
    if ((record->thread != 0 && thread == INTERN_NONE) ||
        labels == INTERN_NONE || record->mark > MARK_SPAN ||
        record->time > INT64_MAX || record->duration > INT64_MAX)
        return SENSELESS;
    struct profile_mark *marks =
        array_room(profile->timed_marks, profile->timed_mark_count,
                   sizeof(*marks));
    if (marks == NULL)
        return FAILED;
    profile->timed_marks = marks;
    marks += profile->timed_mark_count;
    *marks = (struct profile_mark){
        .time = record->time,
        .duration = record->duration,
        .process = load->process,
        .thread = thread,
        .labels = labels,
        .kind = record->mark,
        .name = profile_string(profile, record_text(record)),
    };
    if (marks->name == NULL)
        return FAILED;
    profile->timed_mark_count++;
    spool_load_see_time(load, record->time, record->duration);
    return USED;
}
