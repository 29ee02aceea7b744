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
#include "model/sample_state.h"
#include "util/array.h"
#include "util/clean.h"
#include "util/intern.h"
#include "confidence.h"
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

static bool
is_folded(const struct merge *merge)
{
    return merge->kind == TREE_FOLDED || merge->kind == TREE_FOLDED_WALL;
}

/* Make the name of a frame that shows WHAT, without the parts that KIND leaves
 * out; false if memory is short. */
static bool
make_name(struct merge *merge, const struct tree_label *what, struct name *name)
{
    struct intern *strings = merge->profile->strings;
    bool folded = is_folded(merge);
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

/* One step down from PARENT, to a frame that shows WHAT. A marker does not
 * stand for one function, so a stack does not come back to it. Returns the
 * place, or INTERN_NONE if memory is short. */
static uint32_t
step(struct merge *merge, uint32_t parent, const struct tree_label *what,
     bool is_marker)
{
    struct tree *tree = merge->tree;
    struct name key;
    if (!make_name(merge, what, &key))
        return INTERN_NONE;
    uint32_t name = intern_put(tree->names, &key, sizeof(key));
    if (name == INTERN_NONE)
        return INTERN_NONE;
    bool is_once = merge->kind == TREE_ONCE && !is_marker;
    for (uint32_t up = parent; is_once && up != 0; up = tree->nodes[up].parent)
        if (tree->nodes[up].name == name)
            return up;
    if (merge->kind == TREE_MODULES && parent != 0 &&
        tree->nodes[parent].name == name)
        return parent;
    return tree_child(tree, parent, name);
}

/* The step to the module of NODE. */
static uint32_t
step_module(struct merge *merge, uint32_t parent, uint32_t node)
{
    struct profile *profile = merge->profile;
    struct tree_label what = {
        .function = profile_node_module(profile, node),
        .module = "",
        .file = "",
    };
    bool is_marker = profile_is_marker(profile, node);
    if (is_marker)
        what.function = naming_symbol(profile, node)->frames[0].function;
    return step(merge, parent, &what, is_marker);
}

/* The steps to the functions at NODE. */
static uint32_t
step_functions(struct merge *merge, uint32_t parent, uint32_t node)
{
    struct profile *profile = merge->profile;
    const struct symbol *symbol = naming_symbol(profile, node);
    const char *module =
        profile_module_name(profile, profile->nodes[node].module);
    bool is_marker = profile_is_marker(profile, node) ||
                     profile->nodes[node].mark == NAMING_UNKNOWN_SCRIPT;
    for (unsigned i = symbol->count; i > 0 && parent != INTERN_NONE; i--) {
        const struct symbol_frame *frame = &symbol->frames[i - 1];
        const struct tree_label what = {frame->function, module, frame->file,
                                        frame->line, frame->start_line};
        parent = step(merge, parent, &what, is_marker);
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
    const char *frame =
        is_folded(merge) ? sample_state_frame(merge->profile, sample) : NULL;
    const struct tree_label state = {frame, "", "", 0, 0};
    uint32_t place = merge->places[sample->node];
    if (merge->kind == TREE_FOLDED && sample->state != STATE_RUNNING)
        return 0;
    if (frame != NULL)
        place = step(merge, place, &state, false);
    if (place == INTERN_NONE)
        return -1;
    struct tree_node *node = &merge->tree->nodes[place];
    tree_add_values(node->values, sample->values);
    for (enum value i = VALUE_CPU; i < VALUE_COUNT; i++)
        node->squares[i] += confidence_squares(merge->profile, sample, i);
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
    uint32_t idle = merge->places[profile->idle_node];
    merge->tree->idle = idle < merge->tree->node_count ? idle : 0;
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
    for (uint32_t i = tree->node_count; i-- > 0;) {
        struct tree_sums *above = &totals[tree->nodes[i].parent];
        tree_add_values(totals[i].values, tree->nodes[i].values);
        tree_add_squares(totals[i].squares, tree->nodes[i].squares);
        if (i == 0)
            break;
        tree_add_values(above->values, totals[i].values);
        tree_add_squares(above->squares, totals[i].squares);
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

/* A tree is visited depth first without a stack, because stacks of a hundred
 * thousand frames exist. First a list of the children of each node is made:
 * each node is put in front of its parent's list, from the last to the first.
 */
struct links {
    uint32_t first; /* first child, 0 if none */
    uint32_t next;  /* next sibling, 0 if none */
};

/* For qsort_r: by text, so that the order does not depend on
 * what was read first. */
static int
compare_names(const void *a, const void *b, void *context)
{
    const struct tree *tree = context;
    struct tree_label one = tree_label(tree, *(const uint32_t *)a);
    struct tree_label two = tree_label(tree, *(const uint32_t *)b);
    int order = strcmp(one.function, two.function);
    if (order == 0)
        order = strcmp(one.module, two.module);
    if (order == 0)
        order = strcmp(one.file, two.file);
    if (order == 0)
        order = (one.line > two.line) - (one.line < two.line);
    return order;
}

/* The position of each name in sorted order, NULL if memory is short. Names are
 * far fewer than nodes, so only names are compared as text. */
static uint32_t *
rank_names(const struct tree *tree)
{
    uint32_t count = tree_name_count(tree);
    uint32_t *names = malloc((count + 1) * sizeof(*names));
    uint32_t *ranks = malloc((count + 1) * sizeof(*ranks));
    if (names == NULL || ranks == NULL) {
        free(names);
        free(ranks);
        return NULL;
    }
    for (uint32_t i = 0; i < count; i++)
        names[i] = i;
    qsort_r(names, count, sizeof(*names), compare_names, (void *)tree);
    for (uint32_t i = 0; i < count; i++)
        ranks[names[i]] = i;
    free(names);
    return ranks;
}

/* Sort nodes by the ranks of their names, by counting: linear for any tree. */
static uint32_t *
sort_nodes(const struct tree *tree, const uint32_t *ranks)
{
    uint32_t count = tree_name_count(tree);
    uint32_t *starts = calloc(count + 2, sizeof(*starts));
    uint32_t *nodes = malloc(tree->node_count * sizeof(*nodes));
    if (starts != NULL && nodes != NULL) {
        for (uint32_t i = 1; i < tree->node_count; i++)
            starts[ranks[tree->nodes[i].name] + 1]++;
        for (uint32_t i = 1; i <= count; i++)
            starts[i] += starts[i - 1];
        for (uint32_t i = 1; i < tree->node_count; i++)
            nodes[starts[ranks[tree->nodes[i].name]]++] = i;
    } else {
        free(nodes);
        nodes = NULL;
    }
    free(starts);
    return nodes;
}

/* Put each node in front of the list of its parent, the last one of ORDER
 * (NULL: by number) first, so that the lists end up in that order. */
static struct links *
link_nodes(const struct tree *tree, const uint32_t *order, uint32_t count)
{
    struct links *links = calloc(tree->node_count, sizeof(*links));
    if (links == NULL)
        return NULL;
    for (uint32_t i = count; i > 0; i--) {
        uint32_t node = order != NULL ? order[i - 1] : i;
        struct links *parent = &links[tree->nodes[node].parent];
        links[node].next = parent->first;
        parent->first = node;
    }
    return links;
}

static void
leave_node(const struct tree_visitor *visitor, uint32_t node)
{
    if (visitor->leave != NULL)
        visitor->leave(visitor->context, node);
}

/* Go down to the first child, else to the next sibling, else up. The parent
 * numbers in the nodes replace a stack. */
static void
visit_nodes(const struct tree *tree, const struct links *links,
            const struct tree_visitor *visitor)
{
    uint32_t node = links[0].first;
    while (node != 0) {
        visitor->enter(visitor->context, node);
        if (links[node].first != 0) {
            node = links[node].first;
            continue;
        }
        /* Go up to the nearest node that has a sibling left. */
        leave_node(visitor, node);
        while (node != 0 && links[node].next == 0) {
            node = tree->nodes[node].parent;
            if (node != 0)
                leave_node(visitor, node);
        }
        node = links[node].next;
    }
}

/* Visit the COUNT nodes of ORDER, with children in that order. The parent of a
 * node in ORDER is in it, too, or the root. Returns 0, or -1 if memory is
 * short. */
static int
walk(const struct tree *tree, const uint32_t *order, uint32_t count,
     const struct tree_visitor *visitor)
{
    struct links *links = link_nodes(tree, order, count);
    if (links == NULL)
        return -1;
    visit_nodes(tree, links, visitor);
    free(links);
    return 0;
}

int
tree_walk_by_name(const struct tree *tree, const struct tree_visitor *visitor)
{
    uint32_t *ranks = rank_names(tree);
    uint32_t *sorted = ranks == NULL ? NULL : sort_nodes(tree, ranks);
    int status = -1;
    if (sorted != NULL)
        status = walk(tree, sorted, tree->node_count - 1, visitor);
    free(sorted);
    free(ranks);
    return status;
}

int
tree_walk_by_number(const struct tree *tree, const struct tree_visitor *visitor)
{
    return walk(tree, NULL, tree->node_count - 1, visitor);
}

/* Branches: the nodes that are large enough are sorted by size, once, and
 * walked over in that order. A child is never larger than its parent, so the
 * remaining nodes are a tree. This is the state while building. Arrays have an
 * entry for each node of TREE. */
struct growth {
    const struct tree *tree;
    struct tree_sums *totals;
    enum value value;
    uint64_t least;
    uint32_t depth;    /* limit; 0: none */
    uint32_t *levels;  /* below the root */
    uint32_t *numbers; /* of branches; 0: none */
    uint32_t *sorted;  /* nodes that are kept */
    uint32_t kept;
    bool *has_last; /* by branch: its last child was seen */
    struct branches *branches;
};

/* For qsort_r: idle threads last, else the largest first. Ties are broken by
 * all other fields, so that output is stable. */
static int
compare_nodes(const void *a, const void *b, void *context)
{
    const struct growth *growth = context;
    const struct tree_node *nodes = growth->tree->nodes;
    uint32_t one = *(const uint32_t *)a, two = *(const uint32_t *)b;
    const uint64_t *first = growth->totals[one].values;
    const uint64_t *second = growth->totals[two].values;
    int order = (one == growth->tree->idle) - (two == growth->tree->idle);
    if (order == 0)
        order = tree_larger(first[growth->value], second[growth->value]);
    if (order == 0)
        order = tree_larger(first[VALUE_WALL], second[VALUE_WALL]);
    if (order == 0)
        order = compare_names(&nodes[one].name, &nodes[two].name,
                              (void *)growth->tree);
    return order != 0 ? order : (one > two) - (one < two);
}

/* Choose the nodes to keep, and sort them. */
static void
choose_nodes(struct growth *growth)
{
    const struct tree *tree = growth->tree;
    for (uint32_t i = 1; i < tree->node_count; i++) {
        growth->levels[i] = growth->levels[tree->nodes[i].parent] + 1;
        if (growth->totals[i].values[growth->value] >= growth->least &&
            (growth->depth == 0 || growth->levels[i] <= growth->depth))
            growth->sorted[growth->kept++] = i;
    }
    if (growth->kept > 0)
        qsort_r(growth->sorted, growth->kept, sizeof(*growth->sorted),
                compare_nodes, growth);
}

/* Append the branch for NODE. */
static void
add_branch(void *context, uint32_t node)
{
    struct growth *growth = context;
    struct branches *branches = growth->branches;
    struct branch *branch = &branches->all[branches->count];
    uint32_t parent = growth->numbers[growth->tree->nodes[node].parent];
    *branch = (struct branch){.node = node, .parent = parent};
    memcpy(branch->own, growth->tree->nodes[node].values, sizeof(branch->own));
    memcpy(branch->total, growth->totals[node].values, sizeof(branch->total));
    memcpy(branch->squares, growth->totals[node].squares,
           sizeof(branch->squares));
    branches->all[parent].children += node != 0;
    growth->numbers[node] = branches->count++;
}

/* Append all branches. From the last one on, the first that is seen of a parent
 * is its last child. Returns 0, or -1 if memory is short. */
static int
add_all(struct growth *growth)
{
    const struct tree_visitor visitor = {add_branch, NULL, growth};
    struct branch *all = growth->branches->all;
    add_branch(growth, 0);
    if (walk(growth->tree, growth->sorted, growth->kept, &visitor) != 0)
        return -1;
    for (uint32_t i = growth->branches->count - 1; i > 0; i--) {
        all[i].is_last = !growth->has_last[all[i].parent];
        growth->has_last[all[i].parent] = true;
    }
    return 0;
}

/* Sum up in each kept parent the children that are left out. */
static void
add_hidden(struct branches *branches, const struct growth *growth)
{
    for (uint32_t i = 1; i < growth->tree->node_count; i++) {
        uint32_t parent = growth->tree->nodes[i].parent;
        struct branch *branch = &branches->all[growth->numbers[parent]];
        if (growth->numbers[i] != 0 ||
            (parent != 0 && growth->numbers[parent] == 0))
            continue;
        branch->hidden++;
        tree_add_values(branch->hidden_total, growth->totals[i].values);
    }
}

int
tree_branches(struct branches *branches, const struct tree *tree,
              enum value value, uint64_t least, uint32_t depth)
{
    uint32_t count = tree->node_count;
    struct growth growth = {
        .tree = tree,
        .value = value,
        .least = least,
        .depth = depth,
        .totals = tree_totals(tree),
        .branches = branches,
    };
    int status = -1;
    *branches = (struct branches){0};
    if (growth.totals != NULL && ARRAY_NEW(growth.levels, count) &&
        ARRAY_NEW(growth.numbers, count) && ARRAY_NEW(growth.sorted, count) &&
        ARRAY_NEW(growth.has_last, count)) {
        choose_nodes(&growth);
        branches->all = malloc((growth.kept + 1) * sizeof(*branches->all));
    }
    if (branches->all != NULL)
        status = add_all(&growth);
    if (status == 0)
        add_hidden(branches, &growth);
    else
        tree_release_branches(branches);
    free(growth.has_last);
    free(growth.sorted);
    free(growth.numbers);
    free(growth.levels);
    free(growth.totals);
    if (status != 0)
        errno = ENOMEM;
    return status;
}

void
tree_release_branches(struct branches *branches)
{
    free(branches->all);
    *branches = (struct branches){0};
}
