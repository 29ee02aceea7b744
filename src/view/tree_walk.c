/* SPDX-License-Identifier: MIT */
/*
 * tree_walk.c -- visits a tree depth first without a stack, because stacks of a
 * hundred thousand frames exist. First a list of the children of each node is
 * made: each node is put in front of its parent's list, from the last to the
 * first.
 */
#include <stdlib.h>
#include <string.h>

#include "tree_walk.h"

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

int
tree_walk(const struct tree *tree, const uint32_t *order, uint32_t count,
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
        status = tree_walk(tree, sorted, tree->node_count - 1, visitor);
    free(sorted);
    free(ranks);
    return status;
}

int
tree_walk_by_number(const struct tree *tree, const struct tree_visitor *visitor)
{
    return tree_walk(tree, NULL, tree->node_count - 1, visitor);
}
