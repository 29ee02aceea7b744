/* SPDX-License-Identifier: MIT */
/*
 * profile.c -- makes and frees the model. Its other functions return facts
 * about the model that need more than one array. naming.c has the names of
 * functions.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "symbol/generated_code.h"
#include "symbol/perf_map.h"
#include "util/array.h"
#include "util/clean.h"
#include "util/intern.h"
#include "profile.h"

/* Reserve the numbers that have a special meaning. Node 0 is no node, and
 * module 0 is no module. Nodes 1 and 2 are PROFILE_NO_STACK and
 * PROFILE_NOT_SAMPLED. String 0 is "". So every number in the model is an
 * index. */
static int
reserve_numbers(struct profile *profile)
{
    profile->modules = array_room(NULL, 0, sizeof(*profile->modules));
    profile->nodes = array_room(NULL, 0, sizeof(*profile->nodes));
    if (profile->modules == NULL || profile->nodes == NULL)
        return -1;
    profile->modules[0] = (struct profile_module){.path = "", .build_id = ""};
    profile->module_count = 1;

    profile->nodes[0] = (struct profile_node){0};
    for (uint32_t i = PROFILE_NO_STACK; i <= PROFILE_NOT_SAMPLED; i++) {
        if (!ARRAY_GROW(profile->nodes, i))
            return -1;
        profile->nodes[i] = (struct profile_node){.flags = NODE_TRUNCATED};
        profile->node_count = i + 1;
    }
    return profile_string(profile, "") == NULL ? -1 : 0;
}

/* profile_free accepts a profile that is only partly made, so all errors share
 * one exit. */
struct profile *
profile_new(const struct symbolizer_options *options)
{
    struct profile *profile = calloc(1, sizeof(*profile));
    if (profile == NULL)
        return NULL;
    profile->strings = intern_new();
    profile->symbols = symbolizer_new(options);
    profile->full_names = options->full_names;
    if (profile->strings == NULL || profile->symbols == NULL ||
        reserve_numbers(profile) != 0)
        goto err;
    profile->owner = symbolizer_owner(profile->symbols);
    return profile;

err:
    profile_free(profile);
    errno = ENOMEM;
    return NULL;
}

bool
profile_is_marker(const struct profile *profile, uint32_t node)
{
    return (profile->nodes[node].flags &
            (NODE_TRUNCATED | NODE_ELIDED | NODE_GUESSED)) != 0;
}

bool
profile_is_script(const struct profile *profile, uint32_t node)
{
    return (profile->nodes[node].flags & NODE_SCRIPT) != 0;
}

/* All fields before the rate are sums of one type. */
void
profile_add_cost(struct profile_cost *to, const struct profile_cost *cost)
{
    uint64_t *sums = (uint64_t *)to;
    const uint64_t *values = (const uint64_t *)cost;
    enum { SUMS = offsetof(struct profile_cost, rate) / sizeof(*sums) };
    for (unsigned i = 0; i < SUMS; i++)
        sum_add(&sums[i], values[i]);
    rate_merge(&to->rate, &cost->rate);
}

/* A marker never has NODE_RETURN, so its offset is returned unchanged. */
uint64_t
profile_offset(const struct profile *profile, uint32_t node)
{
    const struct profile_node *at = &profile->nodes[node];
    return at->offset - ((at->flags & NODE_RETURN) != 0);
}

const char *
profile_module_name(const struct profile *profile, uint32_t module)
{
    return path_name(profile->modules[module].path);
}

const char *
profile_node_module(const struct profile *profile, uint32_t node)
{
    const struct profile_node *at = &profile->nodes[node];
    if (profile_is_script(profile, node))
        return (at->flags & NODE_PHP) != 0 ? PROFILE_PHP : PROFILE_PYTHON;
    return at->module != 0 ? profile_module_name(profile, at->module)
                           : PROFILE_NO_MODULE;
}

uint32_t
profile_module_names(const struct profile *profile, uint32_t module)
{
    const struct profile_module *at = &profile->modules[module];
    if (at->has_names)
        return at->names;
    unsigned flags = symbolizer_flags(profile->symbols, at->symbols);
    if ((flags & SYMBOLIZER_LINES) != 0)
        return MODULE_HAS_FUNCTIONS | MODULE_HAS_FILES | MODULE_HAS_LINES |
               MODULE_HAS_INLINES;
    return (flags & SYMBOLIZER_SYMBOLS) != 0 ? MODULE_HAS_FUNCTIONS : 0;
}

uint32_t
profile_busy_threads(const struct profile *profile)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < profile->thread_count; i++)
        count += profile->threads[i].values[VALUE_SAMPLES] > 0;
    return count;
}

/* The end of the sampling that began with mark START, in ns since the start of
 * the mark's process. */
static uint64_t
own_end(const struct profile *profile, size_t start)
{
    uint32_t process = profile->timed_marks[start].process;
    for (size_t i = start + 1; i < profile->timed_mark_count; i++)
        if (profile->timed_marks[i].kind == MARK_STOP &&
            profile->timed_marks[i].process == process)
            return profile->timed_marks[i].time;
    return profile->processes[process].duration;
}

uint32_t
profile_sessions(const struct profile *profile, uint64_t *sampled)
{
    uint32_t count = 0;
    *sampled = 0;
    for (size_t i = 0; i < profile->timed_mark_count; i++) {
        const struct profile_mark *mark = &profile->timed_marks[i];
        if (mark->kind != MARK_START)
            continue;
        count++;
        uint64_t end = own_end(profile, i);
        if (end > mark->time)
            sum_add(sampled, end - mark->time);
    }
    return count;
}

uint64_t
profile_mark_time(const struct profile *profile,
                  const struct profile_mark *mark)
{
    uint64_t time = profile->processes[mark->process].start - profile->start;
    sum_add(&time, mark->time);
    return time;
}

uint64_t
profile_session_end(const struct profile *profile, size_t start)
{
    const struct profile_mark *mark = &profile->timed_marks[start];
    uint64_t end = profile->processes[mark->process].start - profile->start;
    sum_add(&end, own_end(profile, start));
    return end;
}

void
profile_clip_marks(struct profile *profile, uint64_t from, uint64_t to)
{
    size_t kept = 0;
    for (size_t i = 0; i < profile->timed_mark_count; i++) {
        struct profile_mark mark = profile->timed_marks[i];
        uint64_t start = profile_mark_time(profile, &mark), end = start;
        sum_add(&end, mark.duration);
        if (start < to && (start >= from || end > from))
            profile->timed_marks[kept++] = mark;
    }
    profile->timed_mark_count = kept;
}

const char *
profile_string(struct profile *profile, const char *raw)
{
    uint32_t number = clean_put(profile->strings, raw, "");
    if (number == INTERN_NONE)
        return NULL;
    return intern_bytes(profile->strings, number);
}

void *
profile_block(struct profile *profile, size_t size)
{
    return intern_space(profile->strings, size);
}

void
profile_free(struct profile *profile)
{
    if (profile == NULL)
        return;
    for (uint32_t i = 0; i < profile->process_count; i++) {
        perf_map_close(profile->processes[i].map);
        generated_code_free(profile->processes[i].codes);
    }
    address_table_free(&profile->spelled);
    if (profile->symbols != NULL)
        symbolizer_free(profile->symbols);
    intern_clear(&profile->label_keys);
    intern_clear(&profile->keys);
    intern_clear(&profile->files);
    intern_free(profile->strings);
    free(profile->stopped);
    free(profile->timed_marks);
    free(profile->epochs);
    free(profile->labels);
    free(profile->events);
    free(profile->samples);
    free(profile->nodes);
    free(profile->threads);
    free(profile->modules);
    free(profile->processes);
    free(profile);
}
