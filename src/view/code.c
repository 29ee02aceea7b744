/* SPDX-License-Identifier: MIT */
/* code.c -- adds every sample at each address of its stack that belongs to a
 * selected function, and once where the stack has an address several times. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/naming.h"
#include "util/array.h"
#include "util/intern.h"
#include "code.h"

#define OTHER UINT32_MAX

/* The state of a collection. */
struct collection {
    struct code_list *list;
    struct profile *profile;
    const struct match *match;
    struct intern *functions; /* keys: file and name; numbers are LIST's */
    struct intern *addresses; /* keys: function, offset */
    struct intern *linkages;  /* keys: names of FUNCTIONS */
    struct intern *names;     /* keys: strings that MATCH was asked about */
    uint8_t *is_selected;     /* of each of these */
    uint32_t name_count;
    uint32_t *place_of;        /* of each node: its address, or OTHER */
    uint32_t *owners;          /* of each address: its function */
    struct code_place *places; /* of each address */
    uint32_t *stamps; /* of each address: the last sample that was added, + 1 */
    uint32_t place_count;
};

/* Whether NAME is selected: 0 or 1; -1 if memory is short. */
static int
is_selected(struct collection *collection, const char *name)
{
    uint32_t number = intern_string(collection->names, name);
    if (number == INTERN_NONE)
        return -1;
    if (number == collection->name_count) {
        if (!ARRAY_GROW(collection->is_selected, number))
            return -1;
        collection->is_selected[collection->name_count++] =
            match_is(collection->match, name);
    }
    return collection->is_selected[number];
}

/* The number of the function that owns NODE's code; OTHER if memory is short.
 */
static uint32_t
find_function(struct collection *collection, uint32_t node,
              const struct symbol_frame *owner)
{
    struct code_list *list = collection->list;
    uint32_t module = collection->profile->nodes[node].module;
    const uint64_t key[2] = {
        collection->profile->modules[module].symbols,
        intern_string(collection->linkages, owner->linkage[0] != '\0'
                                                ? owner->linkage
                                                : owner->function),
    };
    uint32_t number = intern_put(collection->functions, key, sizeof(key));
    const char *name = profile_string(collection->profile, owner->function);
    if (number == INTERN_NONE || name == NULL ||
        !ARRAY_GROW(list->all, list->count))
        return OTHER;
    if (number == list->count)
        list->all[list->count++] = (struct code){
            .module = module,
            .function = name,
            .linkage = owner->linkage,
        };
    return number;
}

/* The number of the address of NODE in FUNCTION; OTHER if memory is short. */
static uint32_t
find_place(struct collection *collection, uint32_t node, uint32_t function)
{
    uint64_t offset = profile_offset(collection->profile, node);
    const uint64_t key[2] = {function, offset};
    uint32_t number = intern_put(collection->addresses, key, sizeof(key));
    if (number == INTERN_NONE)
        return OTHER;
    if (number == collection->place_count) {
        if (!ARRAY_GROW(collection->places, number) ||
            !ARRAY_GROW(collection->owners, number))
            return OTHER;
        collection->places[number] = (struct code_place){.offset = offset};
        collection->owners[number] = function;
        collection->place_count++;
    }
    return number;
}

/* Find the place of NODE, if its code belongs to a selected function. Returns
 * 0, or -1 if memory is short. */
static int
place_node(struct collection *collection, uint32_t node)
{
    const struct symbol *symbol = naming_symbol(collection->profile, node);
    unsigned last = symbol->count - 1;
    int selected = is_selected(collection, symbol->frames[last].function);
    collection->place_of[node] = OTHER;
    for (unsigned i = 0; selected == 0 && i < last; i++)
        if (is_selected(collection, symbol->frames[i].function) > 0) {
            collection->list->inlined++;
            break;
        }
    if (selected <= 0 || profile_is_marker(collection->profile, node))
        return selected < 0 ? -1 : 0;
    uint32_t function = find_function(collection, node, &symbol->frames[last]);
    if (function == OTHER)
        return -1;
    collection->place_of[node] = find_place(collection, node, function);
    return collection->place_of[node] == OTHER ? -1 : 0;
}

/* Find the places of all nodes that are on stacks. */
static int
place_nodes(struct collection *collection)
{
    const struct profile *profile = collection->profile;
    bool *is_needed = calloc(profile->node_count + 1u, sizeof(*is_needed));
    int status = is_needed != NULL ? 0 : -1;
    for (uint32_t i = 0; status == 0 && i < profile->sample_count; i++)
        for (uint32_t node = profile->samples[i].node;
             node != 0 && !is_needed[node]; node = profile->nodes[node].parent)
            is_needed[node] = true;
    for (uint32_t i = 1; status == 0 && i < profile->node_count; i++) {
        collection->place_of[i] = OTHER;
        if (is_needed[i])
            status = place_node(collection, i);
    }
    free(is_needed);
    return status;
}

static void
add_values(uint64_t *to, const uint64_t *values)
{
    for (unsigned i = 0; i < VALUE_COUNT; i++)
        sum_add(&to[i], values[i]);
}

static void
add_samples(struct collection *collection)
{
    const struct profile *profile = collection->profile;
    for (uint32_t i = 0; i < profile->sample_count; i++) {
        const struct profile_sample *sample = &profile->samples[i];
        uint32_t leaf =
            sample->node != 0 ? collection->place_of[sample->node] : OTHER;
        if (leaf != OTHER)
            add_values(collection->places[leaf].flat, sample->values);
        for (uint32_t node = sample->node; node != 0;
             node = profile->nodes[node].parent) {
            uint32_t place = collection->place_of[node];
            if (place == OTHER || collection->stamps[place] == i + 1)
                continue;
            collection->stamps[place] = i + 1;
            add_values(collection->places[place].cumulative, sample->values);
        }
    }
}

/* For qsort. */
static int
compare_offsets(const void *a, const void *b)
{
    const struct code_place *one = a, *two = b;
    return (one->offset > two->offset) - (one->offset < two->offset);
}

/* The time of CODE, of the running and the waiting. */
static uint64_t
cost_of(const struct code *code)
{
    uint64_t cost = 0;
    for (uint32_t i = 0; i < code->count; i++)
        sum_add(&cost, code->places[i].cumulative[VALUE_WALL]);
    return cost;
}

/* For qsort: the most time first. */
static int
compare_codes(const void *a, const void *b)
{
    uint64_t one = cost_of(a), two = cost_of(b);
    return (one < two) - (one > two);
}

/* Give each function its addresses. */
static int
distribute(struct collection *collection)
{
    struct code_list *list = collection->list;
    for (uint32_t i = 0; i < collection->place_count; i++) {
        struct code *code = &list->all[collection->owners[i]];
        if (!ARRAY_GROW(code->places, code->count))
            return -1;
        code->places[code->count++] = collection->places[i];
    }
    for (uint32_t i = 0; i < list->count; i++)
        qsort(list->all[i].places, list->all[i].count,
              sizeof(*list->all[i].places), compare_offsets);
    if (list->count > 0)
        qsort(list->all, list->count, sizeof(*list->all), compare_codes);
    return 0;
}

static int
collect(struct collection *collection)
{
    if (collection->functions == NULL || collection->addresses == NULL ||
        collection->linkages == NULL || collection->names == NULL ||
        collection->place_of == NULL || place_nodes(collection) != 0)
        return -1;
    collection->stamps =
        calloc(collection->place_count + 1u, sizeof(*collection->stamps));
    if (collection->stamps == NULL)
        return -1;
    add_samples(collection);
    return distribute(collection);
}

int
code_collect(struct code_list *list, struct profile *profile,
             const struct match *match)
{
    struct collection collection = {
        .list = list,
        .profile = profile,
        .match = match,
        .functions = intern_new(),
        .addresses = intern_new(),
        .linkages = intern_new(),
        .names = intern_new(),
        .place_of = calloc(profile->node_count + 1u, sizeof(uint32_t)),
    };
    *list = (struct code_list){0};
    int status = collect(&collection);
    intern_free(collection.functions);
    intern_free(collection.addresses);
    intern_free(collection.linkages);
    intern_free(collection.names);
    free(collection.is_selected);
    free(collection.place_of);
    free(collection.owners);
    free(collection.places);
    free(collection.stamps);
    if (status != 0) {
        code_release(list);
        errno = ENOMEM;
    }
    return status;
}

void
code_release(struct code_list *list)
{
    for (uint32_t i = 0; i < list->count; i++)
        free(list->all[i].places);
    free(list->all);
    *list = (struct code_list){0};
}
