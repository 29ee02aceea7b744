/* SPDX-License-Identifier: MIT */
/* functions.c -- see watch.h. The time for a stack is proportional to its
 * depth. The memory is proportional to the number of places and functions. */
#include <stdlib.h>

#include "model/naming.h"
#include "util/array.h"
#include "util/clean.h"
#include "util/intern.h"
#include "view/filter.h"
#include "watch_parts.h"

/* Apply the filter's expressions to the new ROW. */
static int
try_terms(const struct functions *functions, struct function *row,
          bool is_marker)
{
    const struct filter_options *filter = functions->filter;
    if (filter->count == 0)
        return 0;
    row->matches = calloc(filter->count, sizeof(*row->matches));
    if (row->matches == NULL)
        return -1;
    for (size_t i = 0; i < filter->count; i++)
        row->matches[i] =
            filter->terms[i].kind != FILTER_LABEL &&
            filter_matches(&filter->terms[i].regex, row->name, is_marker);
    return 0;
}

/* The number of function NAME in MODULE, INTERN_NONE if memory is short. */
static uint32_t
find_row(struct functions *functions, const char *name, const char *module,
         bool is_marker)
{
    struct intern *strings = functions->profile->strings;
    const uint32_t key[2] = {clean_put(strings, name, ""),
                             clean_put(strings, module, "")};
    if (!ARRAY_GROW(functions->rows, functions->count))
        return INTERN_NONE;
    struct function *rows = functions->rows;
    if (key[0] == INTERN_NONE || key[1] == INTERN_NONE)
        return INTERN_NONE;
    uint32_t number = intern_put(functions->names, key, sizeof(key));
    if (number != functions->count)
        return number;
    rows[number] = (struct function){.name = intern_bytes(strings, key[0]),
                                     .module = intern_bytes(strings, key[1])};
    if (try_terms(functions, &rows[number], is_marker) != 0)
        rows[number].matches = NULL;
    functions->count++;
    return functions->filter->count > 0 && rows[number].matches == NULL
               ? INTERN_NONE
               : number;
}

/* Make PLACES reach to NODE. */
static int
make_places(struct functions *functions, uint32_t node)
{
    while (functions->place_count <= node) {
        if (!ARRAY_GROW(functions->places, functions->place_count))
            return -1;
        functions->places[functions->place_count++] =
            (struct functions_place){0};
    }
    return 0;
}

/* Name one node: the function there, and those that are inlined in it. */
static int
name_place(struct functions *functions, uint32_t node)
{
    struct profile *profile = functions->profile;
    const struct symbol *symbol = naming_symbol(profile, node);
    uint32_t module = profile->nodes[node].module;
    struct functions_place place = {functions->frame_count, symbol->count};
    for (unsigned i = 0; i < symbol->count; i++) {
        if (!ARRAY_GROW(functions->frames, functions->frame_count))
            return -1;
        functions->frames[functions->frame_count] =
            find_row(functions, symbol->frames[i].function,
                     profile_module_name(profile, module),
                     profile_is_marker(profile, node));
        if (functions->frames[functions->frame_count] == INTERN_NONE)
            return -1;
        functions->frame_count++;
    }
    functions->has_nameless |= module == 0 && !symbol->named;
    functions->places[node] = place;
    return 0;
}

/* A node that is named ends the loop: its callers are named, too. */
int
functions_name(struct functions *functions, uint32_t node)
{
    if (make_places(functions, node) != 0)
        return -1;
    for (; node != 0 && functions->places[node].count == 0;
         node = functions->profile->nodes[node].parent)
        if (name_place(functions, node) != 0)
            return -1;
    return 0;
}

/* Whether a function on the stack NODE matches TERM. */
static bool
has_match(const struct functions *functions, uint32_t node, size_t term)
{
    for (; node != 0; node = functions->profile->nodes[node].parent) {
        const struct functions_place *place = &functions->places[node];
        for (uint32_t i = 0; i < place->count; i++)
            if (functions->rows[functions->frames[place->first + i]]
                    .matches[term])
                return true;
    }
    return false;
}

/* A stack must match every focus and no ignore, as in filter.h. */
bool
functions_keep(const struct functions *functions, uint32_t node)
{
    const struct filter_options *filter = functions->filter;
    for (size_t i = 0; i < filter->count; i++) {
        enum filter_kind kind = filter->terms[i].kind;
        if (kind != FILTER_LABEL &&
            has_match(functions, node, i) != (kind == FILTER_FOCUS))
            return false;
    }
    return true;
}

/* The stamp shows that a function was counted for this stack, on which it may
 * be several times. */
void
functions_add(struct functions *functions, uint32_t node,
              const struct span_sums *sums)
{
    const uint32_t *frames = functions->frames;
    uint64_t stamp = ++functions->stamp;
    span_add_sums(&functions->rows[frames[functions->places[node].first]].self,
                  sums);
    for (; node != 0; node = functions->profile->nodes[node].parent) {
        const struct functions_place *place = &functions->places[node];
        for (uint32_t i = 0; i < place->count; i++) {
            struct function *row = &functions->rows[frames[place->first + i]];
            if (row->stamp != stamp)
                span_add_sums(&row->total, sums);
            row->stamp = stamp;
        }
    }
}

/* All functions are reset: finding those with sums would cost as much. */
void
functions_begin_interval(struct functions *functions)
{
    for (uint32_t i = 0; i < functions->count; i++) {
        span_begin(&functions->rows[i].self);
        span_begin(&functions->rows[i].total);
    }
}

/* Functions stay, without sums, because stacks may contain them again. */
void
functions_forget(struct functions *functions)
{
    for (uint32_t i = 0; i < functions->count; i++) {
        functions->rows[i].self = (struct span_sums){0};
        functions->rows[i].total = (struct span_sums){0};
    }
    for (uint32_t i = 0; i < functions->place_count; i++)
        functions->places[i].count = 0;
    free(functions->frames);
    functions->frames = NULL;
    functions->frame_count = 0;
    functions->has_nameless = false;
}

void
functions_release(struct functions *functions)
{
    for (uint32_t i = 0; i < functions->count; i++)
        free(functions->rows[i].matches);
    free(functions->rows);
    free(functions->places);
    free(functions->frames);
    intern_free(functions->names);
    *functions = (struct functions){0};
}
