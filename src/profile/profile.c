/* SPDX-License-Identifier: MIT */
/*
 * profile.c -- the model's life and the questions that need more than reading
 * an array. Symbols are the costly part, so a node asks for its own once, when
 * it is first shown; a node that no output shows costs nothing.
 */
#include "profile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "clean.h"
#include "generated.h"
#include "intern.h"
#include "names.h"
#include "spell.h"
#include "system_call.h"

/* The name for a marker when memory is short. */
static const struct symbol_frame nameless_frame = {"[?]", "[?]", "", 0, 0};
static const struct symbol nameless = {1, false, &nameless_frame};

/* A symbol with its only frame. */
struct mark {
    struct symbol symbol;
    struct symbol_frame frame;
};

/* Number 0 of nodes and modules means none, nodes 1 and 2 are PROFILE_NO_STACK
 * and PROFILE_NOT_SAMPLED, string 0 is "". With these in place every number in
 * the model is an index, without exceptions. */
static int
reserve_numbers(struct profile *profile)
{
    profile->modules = array_room(NULL, 0, sizeof *profile->modules);
    profile->nodes = array_room(NULL, 0, sizeof *profile->nodes);
    if (profile->modules == NULL || profile->nodes == NULL)
        return -1;
    profile->modules[0] = (struct profile_module){.path = "", .build_id = ""};
    profile->module_count = 1;

    profile->nodes[0] = (struct profile_node){0};
    for (uint32_t i = PROFILE_NO_STACK; i <= PROFILE_NOT_SAMPLED; i++) {
        struct profile_node *nodes =
            array_room(profile->nodes, i, sizeof *profile->nodes);
        if (nodes == NULL)
            return -1;
        profile->nodes = nodes;
        nodes[i] = (struct profile_node){.flags = NODE_TRUNCATED};
        profile->node_count = i + 1;
    }
    return profile_string(profile, "") == NULL ? -1 : 0;
}

/* Whatever of it exists is released by profile_free, so one exit is enough. */
struct profile *
profile_new(const struct symbolizer_options *options)
{
    struct profile *profile = calloc(1, sizeof *profile);

    if (profile == NULL)
        return NULL;
    profile->strings = intern_new();
    profile->files = intern_new();
    profile->keys = intern_new();
    profile->label_keys = intern_new();
    profile->markers = intern_new();
    profile->symbols = symbolizer_new(options);
    profile->full_names = options->full_names;
    if (profile->strings == NULL || profile->files == NULL ||
        profile->keys == NULL || profile->label_keys == NULL ||
        profile->markers == NULL || profile->symbols == NULL ||
        reserve_numbers(profile) < 0)
        goto err;
    return profile;

err:
    profile_free(profile);
    errno = ENOMEM;
    return NULL;
}

/* The place for the mark with NUMBER, NULL if memory is short. */
static struct mark **
mark_place(struct profile *profile, uint32_t number)
{
    while (profile->mark_count <= number) {
        struct mark **marks = array_room(profile->marks, profile->mark_count,
                                         sizeof(struct mark *));
        if (marks == NULL)
            return NULL;
        profile->marks = marks;
        marks[profile->mark_count++] = NULL;
    }
    return &profile->marks[number];
}

/* The symbol for TEXT; equal texts share one. */
static const struct symbol *
marker(struct profile *profile, const char *text)
{
    uint32_t number = intern_string(profile->markers, text);
    struct mark **place =
        number == INTERN_NONE ? NULL : mark_place(profile, number);
    struct mark *mark;

    if (place == NULL)
        return &nameless;
    if (*place != NULL)
        return &(*place)->symbol;
    mark = malloc(sizeof *mark);
    if (mark == NULL)
        return &nameless;
    text = intern_bytes(profile->markers, number);
    mark->frame = (struct symbol_frame){text, text, "", 0, 0};
    mark->symbol = (struct symbol){1, true, &mark->frame};
    *place = mark;
    return &mark->symbol;
}

/* The first time that a node is asked for its symbol. */
static const struct symbol *
find_symbol(struct profile *profile, uint32_t node)
{
    const struct profile_node *at = &profile->nodes[node];
    const struct symbol *generated;

    if (node == PROFILE_NO_STACK)
        return marker(profile, "[no stack]");
    if (node == PROFILE_NOT_SAMPLED)
        return marker(profile, PROFILE_NOT_SAMPLED_NAME);
    if ((at->flags & NODE_TRUNCATED) != 0)
        return marker(profile, "[truncated]");
    /* How many differs from sample to sample; one name keeps them together. */
    if ((at->flags & NODE_ELIDED) != 0)
        return marker(profile, "[frames elided]");
    if ((at->flags & NODE_GUESSED) != 0)
        return marker(profile, "[caller guessed]");
    generated = at->module == 0 ? generated_symbol(profile, node) : NULL;
    if (generated != NULL)
        return generated;
    if (!profile->has_looked_up) {
        profile->has_looked_up = true;
        names_look_up(profile);
    }
    return symbolizer_find(profile->symbols,
                           profile->modules[at->module].symbols,
                           profile_offset(profile, node));
}

/* The pointer in the node is the cache: the symbolizer has its own, but asking
 * it costs a lookup for each frame that is shown. */
const struct symbol *
profile_symbol(struct profile *profile, uint32_t node)
{
    if (profile->nodes[node].symbol == NULL)
        profile->nodes[node].symbol = find_symbol(profile, node);
    return profile->nodes[node].symbol;
}

bool
profile_is_marker(const struct profile *profile, uint32_t node)
{
    return (profile->nodes[node].flags &
            (NODE_TRUNCATED | NODE_ELIDED | NODE_GUESSED)) != 0;
}

/* Also right for a marker, which has no flag for return addresses. */
uint64_t
profile_offset(const struct profile *profile, uint32_t node)
{
    const struct profile_node *at = &profile->nodes[node];

    return at->offset - ((at->flags & NODE_RETURN) != 0);
}

/* The number means something only together with the machine. */
const char *
profile_state(struct profile *profile, const struct profile_sample *sample)
{
    uint32_t process = profile->threads[sample->thread].process;
    const char *name;
    char text[32];

    if (sample->state == STATE_RUNNING)
        return "running";
    if (sample->state == STATE_RUNQUEUE)
        return "runnable";
    if (sample->system_call == SYSCALL_UNKNOWN)
        return "waiting";
    name = system_call_name(profile->processes[process].machine,
                            sample->system_call);
    if (name == NULL) {
        snprintf(text, sizeof text, "system call %u", sample->system_call);
        name = profile_string(profile, text);
    }
    return name != NULL ? name : "waiting";
}

const char *
profile_module_name(const struct profile *profile, uint32_t module)
{
    const char *path = profile->modules[module].path;
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

uint32_t
profile_module_names(const struct profile *profile, uint32_t module)
{
    const struct profile_module *at = &profile->modules[module];

    if (at->has_names)
        return at->names;
    if (symbolizer_has_lines(profile->symbols, at->symbols))
        return MODULE_HAS_FUNCTIONS | MODULE_HAS_FILES | MODULE_HAS_LINES |
               MODULE_HAS_INLINES;
    return symbolizer_has_symbols(profile->symbols, at->symbols)
               ? MODULE_HAS_FUNCTIONS
               : 0;
}

uint32_t
profile_busy_threads(const struct profile *profile)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < profile->thread_count; i++)
        count += profile->threads[i].values[VALUE_SAMPLES] > 0;
    return count;
}

/* *SUM never exceeds INT64_MAX, so the difference does not wrap. */
void
profile_sum(uint64_t *sum, uint64_t value)
{
    if (value > INT64_MAX || *sum > INT64_MAX - value)
        *sum = INT64_MAX;
    else
        *sum += value;
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
    void **blocks =
        array_room(profile->blocks, profile->block_count, sizeof *blocks);

    if (blocks == NULL)
        return NULL;
    profile->blocks = blocks;
    blocks[profile->block_count] = calloc(1, size);
    if (blocks[profile->block_count] == NULL)
        return NULL;
    return blocks[profile->block_count++];
}

void
profile_free(struct profile *profile)
{
    if (profile == NULL)
        return;
    for (uint32_t i = 0; i < profile->mark_count; i++)
        free(profile->marks[i]);
    free(profile->marks);
    for (size_t i = 0; i < profile->block_count; i++)
        free(profile->blocks[i]);
    free(profile->blocks);
    generated_release(profile);
    spell_end(profile);
    if (profile->symbols != NULL)
        symbolizer_free(profile->symbols);
    intern_free(profile->markers);
    intern_free(profile->label_keys);
    intern_free(profile->keys);
    intern_free(profile->files);
    intern_free(profile->strings);
    free(profile->stopped);
    free(profile->timed_marks);
    free(profile->labels);
    free(profile->events);
    free(profile->samples);
    free(profile->nodes);
    free(profile->threads);
    free(profile->modules);
    free(profile->processes);
    free(profile);
}
