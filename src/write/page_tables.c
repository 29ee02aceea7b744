/* SPDX-License-Identifier: MIT */
/* page_tables.c -- see page_tables.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/idle.h"
#include "model/naming.h"
#include "model/sample_state.h"
#include "util/array.h"
#include "util/clean.h"
#include "util/intern.h"
#include "util/number.h"
#include "page_tables.h"

#define NOT_YET UINT32_MAX

/* The number of KEY in TABLE, 0 if memory is short. */
static uint32_t
put(struct page_tables *tables, struct intern *table, const void *key,
    size_t size)
{
    uint32_t number = intern_put(table, key, size);
    if (number != INTERN_NONE)
        return number;
    tables->failed = true;
    return 0;
}

uint32_t
page_tables_string(struct page_tables *tables, const char *text)
{
    uint32_t number = clean_put(tables->strings, text, "");
    if (number != INTERN_NONE)
        return number;
    tables->failed = true;
    return 0;
}

/* All modules of one file become one module, also those of several processes.
 * Module 0 has no name. */
static void
number_modules(struct page_tables *tables)
{
    const struct profile *profile = tables->profile;
    const struct page_module none = {0};
    tables->module_of[0] = put(tables, tables->modules, &none, sizeof(none));
    for (uint32_t i = 1; i < profile->module_count; i++) {
        const struct profile_module *module = &profile->modules[i];
        const struct page_module row = {
            page_tables_string(tables, profile_module_name(profile, i)),
            page_tables_string(tables, module->path),
            page_tables_string(tables, module->build_id),
        };
        tables->module_of[i] = put(tables, tables->modules, &row, sizeof(row));
    }
}

/* The number of the module of NODE. For a function of an interpreter that is
 * the name of its language. */
static uint32_t
number_of_module(struct page_tables *tables, uint32_t node)
{
    const struct profile *profile = tables->profile;
    if (!profile_is_script(profile, node))
        return tables->module_of[profile->nodes[node].module];
    const struct page_module row = {
        .name = page_tables_string(tables, profile_node_module(profile, node)),
    };
    return put(tables, tables->modules, &row, sizeof(row));
}

/* With IS_NATIVE, before stacks were folded. */
static enum page_kind
kind_of(const struct profile *profile, uint32_t node, bool is_native)
{
    if (node <= PROFILE_NOT_SAMPLED || profile_is_marker(profile, node) ||
        (!is_native && profile->nodes[node].mark == NAMING_UNKNOWN_SCRIPT))
        return PAGE_MARKER;
    if (profile_is_script(profile, node))
        return PAGE_SCRIPT;
    return profile->nodes[node].module == 0 ? PAGE_GENERATED : PAGE_NATIVE;
}

/* The caller of NODE; with IS_NATIVE, before stacks were folded. */
static uint32_t
caller_of(const struct profile *profile, uint32_t node, bool is_native)
{
    const struct profile_node *at = &profile->nodes[node];
    return is_native ? at->caller : at->parent;
}

/* Add the frames of NODE, the outermost first, below its caller. */
static void
add_node(struct page_tables *tables, uint32_t node, bool is_native)
{
    struct profile *profile = tables->profile;
    const struct profile_node *at = &profile->nodes[node];
    const struct symbol *symbol =
        is_native && (at->mark != NAMING_OWN || at->entries > 0)
            ? naming_own_symbol(profile, node)
            : naming_symbol(profile, node);
    uint32_t *node_of = is_native ? tables->native_of : tables->node_of;
    uint32_t number = node_of[caller_of(profile, node, is_native)];
    for (unsigned i = symbol->count; i-- > 0;) {
        const struct symbol_frame *frame = &symbol->frames[i];
        const struct page_function function = {
            page_tables_string(tables, frame->function),
            page_tables_string(tables, frame->file),
            number_of_module(tables, node),
            kind_of(profile, node, is_native),
        };
        const struct page_frame row = {
            put(tables, tables->functions, &function, sizeof(function)),
            frame->line,
            i + 1 < symbol->count,
        };
        const struct page_node child = {
            number,
            put(tables, tables->frames, &row, sizeof(row)),
        };
        number = put(tables, tables->nodes, &child, sizeof(child)) + 1;
    }
    node_of[node] = number;
}

/* Add LEAF and its callers that have no node yet, callers first. */
static void
add_stack(struct page_tables *tables, uint32_t leaf, bool is_native)
{
    const struct profile *profile = tables->profile;
    const uint32_t *node_of = is_native ? tables->native_of : tables->node_of;
    uint32_t depth = 0;
    for (uint32_t i = leaf; i != 0 && node_of[i] == 0;
         i = caller_of(profile, i, is_native)) {
        uint32_t *chain =
            depth < tables->chain_room
                ? tables->chain
                : array_room(tables->chain, depth, sizeof(*chain));
        if (chain == NULL) {
            tables->failed = true;
            return;
        }
        tables->chain = chain;
        chain[depth++] = i;
        if (depth > tables->chain_room)
            tables->chain_room = depth;
    }
    while (depth-- > 0)
        add_node(tables, tables->chain[depth], is_native);
}

uint32_t
page_tables_state(struct page_tables *tables,
                  const struct profile_sample *sample)
{
    static const enum page_state kinds[] = {
        [STATE_RUNNING] = PAGE_RUNNING,
        [STATE_WAITING] = PAGE_WAITING,
        [STATE_RUNQUEUE] = PAGE_RUNNABLE,
    };
    const struct page_state_row row = {
        page_tables_string(tables, sample_state_name(tables->profile, sample)),
        kinds[sample->state],
    };
    return put(tables, tables->states, &row, sizeof(row));
}

uint32_t
page_tables_wait(struct page_tables *tables,
                 const struct profile_sample *sample)
{
    const struct page_wait row = {
        page_tables_string(tables, sample->waits_on),
        tables->profile->threads[sample->thread].process,
    };
    if (row.text == 0)
        return 0;
    return put(tables, tables->waits, &row, sizeof(row)) + 1;
}

uint32_t
page_tables_labels(struct page_tables *tables,
                   const struct profile_sample *sample)
{
    if (sample->labels == 0)
        return 0;
    return put(tables, tables->labels, &sample->labels,
               sizeof(sample->labels)) +
           1;
}

/* Give SAMPLE the next row, with everything that it needs. */
static void
add_row(struct page_tables *tables, uint32_t number)
{
    const struct profile_sample *sample = &tables->profile->samples[number];
    if (tables->row_of[number] != NOT_YET)
        return;
    tables->row_of[number] = tables->row_count;
    tables->sample_of[tables->row_count++] = number;
    add_stack(tables, sample->node, false);
    tables->has_native |=
        sample->native_node != sample->node && sample->native_node != 0;
    page_tables_state(tables, sample);
    page_tables_wait(tables, sample);
    page_tables_labels(tables, sample);
}

/* Rows are in the order in which the time block needs them. Without times, they
 * are in the order of the profile. */
static void
add_rows(struct page_tables *tables)
{
    const struct profile *profile = tables->profile;
    for (uint32_t i = 0; i < profile->sample_count; i++)
        tables->row_of[i] = NOT_YET;
    for (uint32_t thread = 0;
         tables->timeline != NULL && thread < profile->thread_count; thread++) {
        const struct profile_event *event;
        for (size_t i = 0;
             (event = timeline_at(tables->timeline, thread, i)) != NULL; i++)
            add_row(tables, event->sample);
    }
    for (uint32_t i = 0; i < profile->sample_count; i++)
        add_row(tables, i);
    for (uint32_t row = 0; tables->has_native && row < tables->row_count; row++)
        add_stack(tables, profile->samples[tables->sample_of[row]].native_node,
                  true);
}

/* Add a node that no row has: the page gives it to waits of idle threads. */
static void
add_idle(struct page_tables *tables)
{
    uint64_t sums[VALUE_COUNT];
    uint32_t count = idle_sum(tables->profile, sums);
    char name[IDLE_NAME_SIZE];
    if (count == 0)
        return;
    snprintf(name, sizeof(name), "[%u idle thread%s]", count,
             number_plural(count));
    const struct page_function function = {
        .name = page_tables_string(tables, name),
        .kind = PAGE_MARKER,
    };
    const struct page_frame frame = {
        .function = put(tables, tables->functions, &function, sizeof(function)),
    };
    const struct page_node node = {
        .frame = put(tables, tables->frames, &frame, sizeof(frame)),
    };
    tables->idle = put(tables, tables->nodes, &node, sizeof(node)) + 1;
}

static bool
has_memory(const struct page_tables *tables)
{
    return tables->strings != NULL && tables->modules != NULL &&
           tables->functions != NULL && tables->frames != NULL &&
           tables->nodes != NULL && tables->states != NULL &&
           tables->waits != NULL && tables->labels != NULL &&
           tables->module_of != NULL && tables->node_of != NULL &&
           tables->native_of != NULL && tables->row_of != NULL &&
           tables->sample_of != NULL;
}

int
page_tables_build(struct page_tables *tables, struct profile *profile,
                  const struct timeline *timeline)
{
    size_t rows = profile->sample_count + 1u;
    *tables = (struct page_tables){.profile = profile, .timeline = timeline};
    tables->strings = intern_new();
    tables->modules = intern_new();
    tables->functions = intern_new();
    tables->frames = intern_new();
    tables->nodes = intern_new();
    tables->states = intern_new();
    tables->waits = intern_new();
    tables->labels = intern_new();
    tables->module_of = calloc(profile->module_count + 1u, sizeof(uint32_t));
    tables->node_of = calloc(profile->node_count + 1u, sizeof(uint32_t));
    tables->native_of = calloc(profile->node_count + 1u, sizeof(uint32_t));
    tables->row_of = calloc(rows, sizeof(uint32_t));
    tables->sample_of = calloc(rows, sizeof(uint32_t));
    if (has_memory(tables)) {
        page_tables_string(tables, "");
        number_modules(tables);
        add_rows(tables);
        add_idle(tables);
        if (!tables->failed)
            return 0;
    }
    errno = ENOMEM;
    return -1;
}

void
page_tables_release(struct page_tables *tables)
{
    intern_free(tables->strings);
    intern_free(tables->modules);
    intern_free(tables->functions);
    intern_free(tables->frames);
    intern_free(tables->nodes);
    intern_free(tables->states);
    intern_free(tables->waits);
    intern_free(tables->labels);
    free(tables->module_of);
    free(tables->node_of);
    free(tables->native_of);
    free(tables->row_of);
    free(tables->sample_of);
    free(tables->chain);
}
