/* SPDX-License-Identifier: MIT */
/*
 * tree.c -- merges stacks by name, one step down for each frame. Parents come
 * before children in the profile. So one pass maps every node to its place in
 * the tree, and the time does not depend on how many samples share a stack.
 * Nodes without samples are never named.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/naming.h"
#include "util/array.h"
#include "util/clean.h"
#include "util/intern.h"
#include "tree.h"

/* Values of a place: a node of the tree, or one of these. */
#define NEEDLESS INTERN_NONE
#define NEEDED (INTERN_NONE - 1)

/* The state while building. */
struct merge {
    struct profile *profile;
    struct tree *tree;
    enum tree_kind kind;
    uint32_t *places; /* for each node of the profile */
    /* The module that was entered last: neighbours often have the same. */
    const char *module;
    uint32_t module_number;
};

/* The key of a name: numbers of strings, then lines. */
struct name {
    uint32_t function, module, file, line, start_line;
};

uint32_t
tree_child(struct tree *tree, uint32_t parent, uint32_t name)
{
    uint32_t edge[2] = {parent, name};
    if (!ARRAY_GROW(tree->nodes, tree->node_count))
        return INTERN_NONE;
    uint32_t number = intern_put(tree->edges, edge, sizeof(edge));
    if (number == INTERN_NONE)
        return INTERN_NONE;
    number++;
    if (number == tree->node_count)
        tree->nodes[tree->node_count++] =
            (struct tree_node){.parent = parent, .name = name};
    return number;
}

static bool
is_folded(enum tree_kind kind)
{
    return kind == TREE_FOLDED || kind == TREE_FOLDED_WALL;
}

/* The string number of MODULE, which is a pointer to the profile's own path. */
static uint32_t
module_number(struct merge *merge, const char *module)
{
    if (module != merge->module) {
        merge->module = module;
        merge->module_number = clean_put(merge->profile->strings, module, "");
    }
    return merge->module_number;
}

/* Make the name of a frame that shows WHAT, without the parts that KIND leaves
 * out; false if memory is short. */
static bool
make_name(struct merge *merge, const struct tree_label *what, struct name *name)
{
    struct intern *strings = merge->profile->strings;
    bool folded = is_folded(merge->kind);
    bool lines = merge->kind == TREE_LINES;
    /* Number 0 is "". */
    *name = (struct name){
        .function = clean_put(strings, what->function, folded ? ";" : ""),
        .module = folded ? 0 : module_number(merge, what->module),
        .file = lines ? clean_put(strings, what->file, "") : 0,
        .line = lines ? what->line : 0,
        .start_line = lines ? what->start_line : 0,
    };
    return name->function != INTERN_NONE && name->module != INTERN_NONE &&
           name->file != INTERN_NONE;
}

/* One step down from PARENT, to a frame that shows WHAT. Returns the place, or
 * INTERN_NONE if memory is short. */
static uint32_t
step(struct merge *merge, uint32_t parent, const struct tree_label *what)
{
    struct tree *tree = merge->tree;
    struct name key;
    if (!make_name(merge, what, &key))
        return INTERN_NONE;
    uint32_t name = intern_put(tree->names, &key, sizeof(key));
    if (name == INTERN_NONE)
        return INTERN_NONE;
    if (merge->kind == TREE_MODULES && parent != 0 &&
        tree->nodes[parent].name == name)
        return parent;
    return tree_child(tree, parent, name);
}

/* The step to the module of NODE. Code in no module has a name in brackets. */
static uint32_t
step_module(struct merge *merge, uint32_t parent, uint32_t node)
{
    struct profile *profile = merge->profile;
    struct tree_label what = {
        .function = profile_module_name(profile, profile->nodes[node].module),
        .module = "",
        .file = "",
    };
    if (profile_is_marker(profile, node))
        what.function = naming_symbol(profile, node)->frames[0].function;
    else if (what.function[0] == '\0')
        what.function = "[generated code]";
    return step(merge, parent, &what);
}

/* The steps to the functions at NODE. */
static uint32_t
step_functions(struct merge *merge, uint32_t parent, uint32_t node)
{
    struct profile *profile = merge->profile;
    const struct symbol *symbol = naming_symbol(profile, node);
    const char *module =
        profile_module_name(profile, profile->nodes[node].module);
    for (unsigned i = symbol->count; i > 0 && parent != INTERN_NONE; i--) {
        const struct symbol_frame *frame = &symbol->frames[i - 1];
        const struct tree_label what = {frame->function, module, frame->file,
                                        frame->line, frame->start_line};
        parent = step(merge, parent, &what);
    }
    return parent;
}

/* Find the place of NODE, whose parent has one. Returns 0, or -1 if
 * memory is short. */
static int
place_node(struct merge *merge, uint32_t node)
{
    uint32_t parent = merge->profile->nodes[node].parent;
    uint32_t place = parent == 0 ? 0 : merge->places[parent];
    place = merge->kind == TREE_MODULES ? step_module(merge, place, node)
                                        : step_functions(merge, place, node);
    merge->places[node] = place;
    return place == INTERN_NONE ? -1 : 0;
}

/* Mark the nodes that samples need, from each leaf up to the first node that is
 * marked already. Then find the places from the roots down. Returns 0, or -1 if
 * memory is short. */
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
        if (places[i] == NEEDED && place_node(merge, i) != 0)
            return -1;
    return 0;
}

/* Add SAMPLE where its stack ends. Returns 0, or -1 if memory is short. */
static int
add_sample(struct merge *merge, const struct profile_sample *sample)
{
    static const struct tree_label waiting = {"[waiting]", "", "", 0, 0};
    static const struct tree_label runnable = {"[runnable]", "", "", 0, 0};
    uint32_t place = merge->places[sample->node];
    if (merge->kind == TREE_FOLDED && sample->state != STATE_RUNNING)
        return 0;
    if (merge->kind == TREE_FOLDED_WALL && sample->state != STATE_RUNNING)
        place = step(merge, place,
                     sample->state == STATE_RUNQUEUE ? &runnable : &waiting);
    if (place == INTERN_NONE)
        return -1;
    for (unsigned i = 0; i < VALUE_COUNT; i++)
        sum_add(&merge->tree->nodes[place].values[i], sample->values[i]);
    return 0;
}

/* Find the places of stacks first, then add the samples. */
static int
merge_all(struct merge *merge)
{
    const struct profile *profile = merge->profile;
    if (place_nodes(merge) != 0)
        return -1;
    for (uint32_t i = 0; i < profile->sample_count; i++)
        if (add_sample(merge, &profile->samples[i]) != 0)
            return -1;
    return 0;
}

/* A tree with only a root; NULL if memory is short. */
static struct tree *
new_tree(const struct intern *strings)
{
    struct tree *tree = calloc(1, sizeof(*tree));
    if (tree == NULL)
        return NULL;
    tree->strings = strings;
    tree->names = intern_new();
    tree->edges = intern_new();
    tree->nodes = calloc(1, sizeof(*tree->nodes));
    tree->node_count = 1;
    if (tree->names != NULL && tree->edges != NULL && tree->nodes != NULL)
        return tree;
    tree_free(tree);
    return NULL;
}

/* The places are needed only while building; the tree stands on its own. */
struct tree *
tree_build(struct profile *profile, enum tree_kind kind)
{
    struct merge merge = {.profile = profile,
                          .kind = kind,
                          .tree = new_tree(profile->strings)};
    if (merge.tree == NULL)
        goto err0;
    merge.places = malloc(profile->node_count * sizeof(*merge.places));
    if (merge.places == NULL || merge_all(&merge) != 0)
        goto err1;
    free(merge.places);
    return merge.tree;

err1:
    free(merge.places);
    tree_free(merge.tree);
err0:
    errno = ENOMEM;
    return NULL;
}

/* Names are entered in their order, so they keep their numbers. */
struct tree *
tree_new_like(const struct tree *tree)
{
    struct tree *like = new_tree(tree->strings);
    if (like == NULL)
        return NULL;
    for (uint32_t i = 0; i < intern_count(tree->names); i++)
        if (intern_put(like->names, intern_bytes(tree->names, i),
                       sizeof(struct name)) == INTERN_NONE) {
            tree_free(like);
            return NULL;
        }
    return like;
}

uint32_t
tree_name_count(const struct tree *tree)
{
    return intern_count(tree->names);
}

const char *
tree_name(const struct tree *tree, uint32_t name)
{
    const struct name *key = intern_bytes(tree->names, name);
    return intern_bytes(tree->strings, key->function);
}

const char *
tree_module(const struct tree *tree, uint32_t name)
{
    const struct name *key = intern_bytes(tree->names, name);
    return intern_bytes(tree->strings, key->module);
}

struct tree_label
tree_label(const struct tree *tree, uint32_t name)
{
    const struct name *key = intern_bytes(tree->names, name);
    return (struct tree_label){
        .function = intern_bytes(tree->strings, key->function),
        .module = intern_bytes(tree->strings, key->module),
        .file = intern_bytes(tree->strings, key->file),
        .line = key->line,
        .start_line = key->start_line,
    };
}

/* Children have larger numbers than their parents, so from the last to the
 * first every node is complete when it is added to its parent. */
struct tree_sums *
tree_totals(const struct tree *tree)
{
    struct tree_sums *totals = calloc(tree->node_count, sizeof(*totals));
    if (totals == NULL)
        return NULL;
    for (uint32_t i = 0; i < tree->node_count; i++)
        memcpy(totals[i].values, tree->nodes[i].values,
               sizeof(totals[i].values));
    for (uint32_t i = tree->node_count - 1; i > 0; i--) {
        struct tree_sums *parent = &totals[tree->nodes[i].parent];
        for (unsigned j = 0; j < VALUE_COUNT; j++)
            sum_add(&parent->values[j], totals[i].values[j]);
    }
    return totals;
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
