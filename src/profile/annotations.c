/* SPDX-License-Identifier: MIT */
/*
 * annotations.c -- see annotations.h. A program may use a key that is a label
 * of ours; it is renamed where it enters, so that all outputs agree.
 */
#include "annotations.h"

#include <stdio.h>

#include "store/record.h"

#include "array.h"
#include "intern.h"
#include "label_sets.h"

/* Stands before a key that is one of ours. */
#define PREFIX "program."

uint32_t
annotations_set(const struct build *build, uint32_t id)
{
    return id == 0 ? 0 : parts_number(&build->labels, id);
}

/* The key as it is shown; NULL if memory is short. */
static const char *
shown_key(struct profile *profile, const char *key)
{
    char longer[64];

    if (!label_sets_is_reserved(key))
        return key;
    snprintf(longer, sizeof longer, PREFIX "%s", key);
    return profile_string(profile, longer);
}

/* The labels of PARENT but for KEY, whose value there no longer counts. */
static unsigned
collect(const struct profile *profile, uint32_t parent, const char *key,
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
annotations_add_label(struct build *build, const void *bytes)
{
    const struct record_label *record = bytes;
    struct profile *profile = build->profile;
    const char *key = parts_text(build, record->key);
    const char *value = parts_text(build, record->value);
    uint32_t parent = annotations_set(build, record->parent), set;
    struct label_pair pairs[LABEL_SETS_DEPTH + 1];
    unsigned count;

    if (record->id == 0 || record->parent >= record->id || key == NULL ||
        value == NULL || key[0] == '\0' || parent == INTERN_NONE ||
        parts_number(&build->labels, record->id) != INTERN_NONE)
        return SENSELESS;
    key = shown_key(profile, key);
    if (key == NULL)
        return FAILED;
    count = collect(profile, parent, key, pairs);
    if (count >= LABEL_SETS_DEPTH)
        return SENSELESS;
    pairs[count] = (struct label_pair){.key = key, .value = value};
    set = label_sets_put(profile, pairs, count + 1);
    if (set == INTERN_NONE || parts_define(&build->labels, record->id, set) < 0)
        return FAILED;
    return USED;
}

enum outcome
annotations_add_mark(struct build *build, const void *bytes)
{
    const struct record_mark *record = bytes;
    struct profile *profile = build->profile;
    uint32_t labels = annotations_set(build, record->label);
    uint32_t thread = PROFILE_NO_THREAD;
    struct profile_mark *marks;

    if (record->thread != 0)
        thread = parts_number(&build->threads, record->thread);
    if ((record->thread != 0 && thread == INTERN_NONE) ||
        labels == INTERN_NONE || record->mark > MARK_SPAN ||
        record->time > INT64_MAX || record->duration > INT64_MAX)
        return SENSELESS;
    marks = array_room(profile->timed_marks, profile->timed_mark_count,
                       sizeof *marks);
    if (marks == NULL)
        return FAILED;
    profile->timed_marks = marks;
    marks += profile->timed_mark_count;
    *marks = (struct profile_mark){
        .time = record->time,
        .duration = record->duration,
        .process = build->process,
        .thread = thread,
        .labels = labels,
        .kind = record->mark,
        .name = profile_string(profile, record_text(record)),
    };
    if (marks->name == NULL)
        return FAILED;
    profile->timed_mark_count++;
    parts_see_time(build, record->time, record->duration);
    return USED;
}

/* When the time of sampling ended that began with mark START. */
static uint64_t
session_end(const struct profile *profile, size_t start)
{
    uint32_t process = profile->timed_marks[start].process;

    for (size_t i = start + 1; i < profile->timed_mark_count; i++)
        if (profile->timed_marks[i].kind == MARK_STOP &&
            profile->timed_marks[i].process == process)
            return profile->timed_marks[i].time;
    return profile->processes[process].duration;
}

uint32_t
annotations_sessions(const struct profile *profile, uint64_t *sampled)
{
    uint32_t count = 0;

    *sampled = 0;
    for (size_t i = 0; i < profile->timed_mark_count; i++) {
        const struct profile_mark *mark = &profile->timed_marks[i];
        uint64_t end;
        if (mark->kind != MARK_START)
            continue;
        count++;
        end = session_end(profile, i);
        if (end > mark->time)
            profile_sum(sampled, end - mark->time);
    }
    return count;
}

uint64_t
annotations_time(const struct profile *profile, const struct profile_mark *mark)
{
    uint64_t time = profile->processes[mark->process].start - profile->start;

    profile_sum(&time, mark->time);
    return time;
}

void
annotations_clip(struct profile *profile, uint64_t from, uint64_t to)
{
    size_t kept = 0;

    for (size_t i = 0; i < profile->timed_mark_count; i++) {
        struct profile_mark mark = profile->timed_marks[i];
        uint64_t start = annotations_time(profile, &mark), end = start;
        profile_sum(&end, mark.duration);
        if (start < to && (start >= from || end > from))
            profile->timed_marks[kept++] = mark;
    }
    profile->timed_mark_count = kept;
}
