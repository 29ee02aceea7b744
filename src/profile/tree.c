/* SPDX-License-Identifier: MIT */
/*
 * tree.c -- merges stacks by name, one step down for each frame. Parents come
 * before children in the profile, so one pass in order maps every node to its
 * place in the tree, and the time does not depend on how many samples share a
 * stack. Nodes without samples are never named.
 */
#include "tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "clean.h"
#include "intern.h"

/* Values of a place: the node of the tree, or one of these. */
#define NEEDLESS INTERN_NONE
#define NEEDED (INTERN_NONE - 1)

/* What is known while building. */
struct merge {
    struct profile *profile;
    struct tree *tree;
    enum tree_kind kind;
    uint32_t *places; /* for each node of the profile */
};

/* The child of PARENT called NAME, made if it is new; INTERN_NONE if memory is
 * short. */
static uint32_t
child(struct tree *tree, uint32_t parent, uint32_t name)
{
    uint32_t edge[2] = {parent, name};
    struct tree_node *nodes =
        array_room(tree->nodes, tree->node_count, sizeof *nodes);
    uint32_t number;

    if (nodes == NULL)
        return INTERN_NONE;
    tree->nodes = nodes;
    number = intern_put(tree->edges, edge, sizeof edge);
    if (number == INTERN_NONE)
        return INTERN_NONE;
    number++;
    if (number == tree->node_count)
        nodes[tree->node_count++] =
            (struct tree_node){.parent = parent, .name = name};
    return number;
}

/* One step down from PARENT, to a frame that shows FUNCTION of MODULE. */
static uint32_t
step(struct merge *merge, uint32_t parent, const char *function,
     const char *module)
{
    struct intern *strings = merge->profile->strings;
    bool folded = merge->kind == TREE_FOLDED;
    uint32_t pair[2] = {clean_put(strings, function, folded ? ";" : ""),
                        clean_put(strings, folded ? "" : module, "")};
    uint32_t name;

    if (pair[0] == INTERN_NONE || pair[1] == INTERN_NONE)
        return INTERN_NONE;
    name = intern_put(merge->tree->names, pair, sizeof pair);
    return name == INTERN_NONE ? name : child(merge->tree, parent, name);
}

/* Find the place of one node; its parent has one. */
static int
place_node(struct merge *merge, uint32_t node)
{
    struct profile *profile = merge->profile;
    const struct symbol *symbol = profile_symbol(profile, node);
    uint32_t parent = profile->nodes[node].parent;
    uint32_t place = parent == 0 ? 0 : merge->places[parent];
    const char *module =
        profile_module_name(profile, profile->nodes[node].module);

    for (unsigned i = symbol->count; i > 0; i--) {
        place = step(merge, place, symbol->frames[i - 1].function, module);
        if (place == INTERN_NONE)
            return -1;
    }
    merge->places[node] = place;
    return 0;
}

/* Mark what samples need, from each leaf up to the first node that is marked
 * already, then find the places from the roots down. */
static int
place_nodes(struct merge *merge)
{
    const struct profile *profile = merge->profile;
    uint32_t *places = merge->places;

    for (uint32_t i = 0; i < profile->node_count; i++)
        places[i] = NEEDLESS;
    for (uint32_t i = 0; i < profile->sample_count; i++)
        for (uint32_t node = profile->samples[i].node;
             node != 0 && places[node] == NEEDLESS;
             node = profile->nodes[node].parent)
            places[node] = NEEDED;
    for (uint32_t i = 1; i < profile->node_count; i++)
        if (places[i] == NEEDED && place_node(merge, i) < 0)
            return -1;
    return 0;
}

/* Sum a sample up where its stack ends. */
static int
add_sample(struct merge *merge, const struct profile_sample *sample)
{
    uint32_t place = merge->places[sample->node];

    if (merge->kind == TREE_FOLDED && sample->state != STATE_RUNNING)
        place =
            step(merge, place,
                 sample->state == STATE_RUNQUEUE ? "[runnable]" : "[waiting]",
                 "");
    if (place == INTERN_NONE)
        return -1;
    for (unsigned i = 0; i < VALUE_COUNT; i++)
        profile_sum(&merge->tree->nodes[place].values[i], sample->values[i]);
    return 0;
}

/* Stacks first, then what was seen in them. */
static int
merge_all(struct merge *merge)
{
    const struct profile *profile = merge->profile;

    if (place_nodes(merge) < 0)
        return -1;
    for (uint32_t i = 0; i < profile->sample_count; i++)
        if (add_sample(merge, &profile->samples[i]) < 0)
            return -1;
    return 0;
}

/* The places are needed only while building; the tree stands on its own. */
struct tree *
tree_build(struct profile *profile, enum tree_kind kind)
{
    struct merge merge = {.profile = profile, .kind = kind};
    struct tree *tree = calloc(1, sizeof *tree);

    if (tree == NULL)
        goto err0;
    merge.tree = tree;
    tree->strings = profile->strings;
    tree->names = intern_new();
    tree->edges = intern_new();
    tree->nodes = calloc(1, sizeof *tree->nodes);
    tree->node_count = 1;
    merge.places = malloc(profile->node_count * sizeof *merge.places);
    if (tree->names == NULL || tree->edges == NULL || tree->nodes == NULL ||
        merge.places == NULL || merge_all(&merge) < 0)
        goto err1;
    free(merge.places);
    return tree;

err1:
    free(merge.places);
    tree_free(tree);
err0:
    errno = ENOMEM;
    return NULL;
}

uint32_t
tree_name_count(const struct tree *tree)
{
    return intern_count(tree->names);
}

const char *
tree_name(const struct tree *tree, uint32_t name)
{
    const uint32_t *pair = intern_bytes(tree->names, name);

    return intern_bytes(tree->strings, pair[0]);
}

const char *
tree_module(const struct tree *tree, uint32_t name)
{
    const uint32_t *pair = intern_bytes(tree->names, name);

    return intern_bytes(tree->strings, pair[1]);
}

void
tree_free(struct tree *tree)
{
    if (tree == NULL)
        return;
    intern_free(tree->edges);
    intern_free(tree->names);
    free(tree->nodes);
    free(tree);
}
