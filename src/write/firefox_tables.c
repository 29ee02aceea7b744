/* SPDX-License-Identifier: MIT */
/*
 * firefox_tables.c -- each table is an intern (util/intern.h) whose keys are
 * its rows. So a column is a walk over the keys.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/naming.h"
#include "util/clean.h"
#include "util/intern.h"
#include "firefox.h"

/* The category of a leaf; FIREFOX_NONE for its callers. */
struct shade {
    uint32_t category, subcategory;
};

/* String 0 is "" (firefox_tables_build), so a text becomes empty if memory is
 * short. */
uint32_t
firefox_tables_string(struct firefox_tables *tables, const char *text)
{
    uint32_t number = clean_put(tables->strings, text, "");
    return number == INTERN_NONE ? 0 : number;
}

/* Give each module the number of its library; modules of one file are one
 * library. Returns 0, or -1 if memory is short. */
static int
number_libraries(struct firefox_tables *tables)
{
    const struct profile *profile = tables->profile;
    struct intern *files = intern_new();
    bool failed = files == NULL;
    for (uint32_t i = 1; i < profile->module_count && !failed; i++) {
        const struct profile_module *module = &profile->modules[i];
        const char *const key[2] = {module->path, module->build_id};
        tables->libraries[i] = intern_put(files, key, sizeof(key));
        failed = tables->libraries[i] == INTERN_NONE;
        if (tables->libraries[i] == tables->library_count)
            tables->library_names[tables->library_count++] =
                firefox_tables_string(tables, profile_module_name(profile, i));
    }
    intern_free(files);
    return failed ? -1 : 0;
}

static uint32_t
source_of(struct firefox_tables *tables, const char *file)
{
    if (file[0] == '\0')
        return FIREFOX_NONE;
    uint32_t name = firefox_tables_string(tables, file);
    return intern_put(tables->sources, &name, sizeof(name));
}

/* Functions of one name differ by their file and their library. */
static uint32_t
function_of(struct firefox_tables *tables, const struct symbol_frame *frame,
            uint32_t library)
{
    struct firefox_function row = {
        .name = firefox_tables_string(tables, frame->function),
        .resource = FIREFOX_NONE,
        .source = source_of(tables, frame->file),
    };
    if (library != FIREFOX_NONE) {
        struct firefox_resource resource = {library,
                                            tables->library_names[library]};
        row.resource =
            intern_put(tables->resources, &resource, sizeof(resource));
    }
    return intern_put(tables->functions, &row, sizeof(row));
}

/* The stack of frame I of SYMBOL, which is at NODE, on top of PREFIX. */
static uint32_t
add_frame(struct firefox_tables *tables, uint32_t node,
          const struct symbol *symbol, unsigned i, uint32_t prefix,
          const struct shade *state)
{
    const struct profile *profile = tables->profile;
    uint32_t number = profile->nodes[node].module;
    const struct profile_module *module = &profile->modules[number];
    uint32_t library = number != 0 ? tables->libraries[number] : FIREFOX_NONE;
    uint32_t line = symbol->frames[i].line;
    struct firefox_frame row;
    struct firefox_stack stack = {.prefix = prefix};
    /* A row is a key, and its padding is part of the key. */
    memset(&row, 0, sizeof(row));
    row.function = function_of(tables, &symbol->frames[i], library);
    row.library = library;
    row.depth = symbol->count - 1 - i;
    row.line = line > 0 ? line : FIREFOX_NONE;
    row.category = state->category;
    row.subcategory = state->subcategory;
    if (library != FIREFOX_NONE && !profile_is_marker(profile, node))
        row.address =
            module->base + profile_offset(profile, node) - module->start;
    stack.frame = intern_put(tables->frames, &row, sizeof(row));
    return intern_put(tables->stacks, &stack, sizeof(stack));
}

/* The stack of NODE with its inlined functions; the innermost frame has STATE.
 */
static uint32_t
stack_at(struct firefox_tables *tables, uint32_t node,
         const struct shade *state)
{
    static const struct shade caller = {FIREFOX_NONE, FIREFOX_NONE};
    const struct symbol *symbol = naming_symbol(tables->profile, node);
    uint32_t parent = tables->profile->nodes[node].parent;
    uint32_t stack = parent != 0 ? tables->stack_of[parent] : FIREFOX_NONE;
    for (unsigned i = symbol->count; i-- > 0;)
        stack =
            add_frame(tables, node, symbol, i, stack, i == 0 ? state : &caller);
    return stack;
}

/* Make the stacks of all callers. A caller has a smaller number, so its stack
 * exists when it is needed. Returns 0, or -1 if memory is short. */
static int
make_callers(struct firefox_tables *tables)
{
    static const struct shade caller = {FIREFOX_NONE, FIREFOX_NONE};
    const struct profile *profile = tables->profile;
    bool *is_caller = calloc(profile->node_count, sizeof(*is_caller));
    if (is_caller == NULL)
        return -1;
    for (uint32_t i = 0; i < profile->sample_count; i++) {
        uint32_t node = profile->nodes[profile->samples[i].node].parent;
        for (; node != 0 && !is_caller[node];
             node = profile->nodes[node].parent)
            is_caller[node] = true;
    }
    for (uint32_t i = 1; i < profile->node_count; i++)
        if (is_caller[i])
            tables->stack_of[i] = stack_at(tables, i, &caller);
    free(is_caller);
    return 0;
}

/* Subcategory 0 is "Other", which every category has. */
static struct shade
state_of(struct firefox_tables *tables, const struct profile_sample *sample)
{
    if (sample->state == STATE_RUNNING)
        return (struct shade){FIREFOX_RUNNING, 0};
    if (sample->state == STATE_RUNQUEUE)
        return (struct shade){FIREFOX_RUNNABLE, 0};
    if (sample->system_call == SYSCALL_UNKNOWN)
        return (struct shade){FIREFOX_WAITING, 0};
    const char *call = profile_state(tables->profile, sample);
    uint32_t number = clean_put(tables->calls, call, "");
    return (struct shade){FIREFOX_WAITING,
                          number == INTERN_NONE ? 0 : number + 1};
}

/* The category is part of the frame. So a stack has one leaf for each state
 * that was seen in it. */
static void
make_leaves(struct firefox_tables *tables)
{
    const struct profile *profile = tables->profile;
    for (uint32_t i = 0; i < profile->sample_count; i++) {
        const struct profile_sample *sample = &profile->samples[i];
        struct shade state = state_of(tables, sample);
        tables->sample_stack[i] = stack_at(tables, sample->node, &state);
    }
}

/* A row that could not be stored has the number INTERN_NONE, and every table
 * that refers to it is wrong. So no row may refer to INTERN_NONE. */
static bool
is_whole(const struct firefox_tables *tables)
{
    uint32_t stacks = intern_count(tables->stacks);
    for (uint32_t i = 0; i < stacks; i++) {
        const struct firefox_stack *stack = intern_bytes(tables->stacks, i);
        if (stack->frame == INTERN_NONE)
            return false;
        const struct firefox_frame *frame =
            intern_bytes(tables->frames, stack->frame);
        if (frame->function == INTERN_NONE)
            return false;
    }
    for (uint32_t i = 0; i < tables->profile->sample_count; i++)
        if (tables->sample_stack[i] >= stacks)
            return false;
    return true;
}

int
firefox_tables_build(struct firefox_tables *tables, struct profile *profile)
{
    *tables = (struct firefox_tables){.profile = profile};
    tables->strings = intern_new();
    tables->sources = intern_new();
    tables->resources = intern_new();
    tables->functions = intern_new();
    tables->frames = intern_new();
    tables->stacks = intern_new();
    tables->calls = intern_new();
    tables->libraries = calloc(profile->module_count, sizeof(uint32_t));
    tables->library_names = calloc(profile->module_count, sizeof(uint32_t));
    tables->stack_of = calloc(profile->node_count, sizeof(uint32_t));
    tables->sample_stack = calloc(profile->sample_count + 1u, sizeof(uint32_t));
    if (tables->strings == NULL || tables->sources == NULL ||
        tables->resources == NULL || tables->functions == NULL ||
        tables->frames == NULL || tables->stacks == NULL ||
        tables->calls == NULL || tables->libraries == NULL ||
        tables->library_names == NULL || tables->stack_of == NULL ||
        tables->sample_stack == NULL ||
        intern_string(tables->strings, "") == INTERN_NONE ||
        number_libraries(tables) != 0 || make_callers(tables) != 0)
        goto err;
    make_leaves(tables);
    if (is_whole(tables))
        return 0;
err:
    errno = ENOMEM;
    return -1;
}

void
firefox_tables_release(struct firefox_tables *tables)
{
    intern_free(tables->strings);
    intern_free(tables->sources);
    intern_free(tables->resources);
    intern_free(tables->functions);
    intern_free(tables->frames);
    intern_free(tables->stacks);
    intern_free(tables->calls);
    free(tables->libraries);
    free(tables->library_names);
    free(tables->stack_of);
    free(tables->sample_stack);
}
