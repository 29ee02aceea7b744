/* SPDX-License-Identifier: MIT */
/*
 * folded.c -- one line for each stack: frames from the root to the leaf,
 * separated by ';', a space, and how many samples had it. From
 *
 *   3 samples     main -> parse -> next_token     running
 *   2 samples     main -> parse                   running, two threads
 *   4 samples     main -> read                    waiting for a disk
 *
 * it makes exactly
 *
 *   main;parse 2
 *   main;parse;next_token 3
 *
 * and, where wall time is asked for, a third line
 *
 *   main;read;[waiting] 4
 *
 * There, samples are counted in all states, so widths are wall time; the last
 * frame "[waiting]" or "[runnable]" keeps waiting and working apart. A ';' or
 * control character in a name becomes '?'. Lines are sorted frame by frame.
 */
#include "folded.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profile/tree.h"
#include "profile/walk.h"

/* The walk's state: PATH is the line up to the node that was entered last. */
struct fold {
    FILE *stream;
    const struct tree *tree;
    char *path;
    size_t length, size;
    int error; /* errno of the first failure, 0 if none */
};

static int
make_room(struct fold *fold, size_t length)
{
    size_t size = 2 * (fold->length + length);
    char *path;

    if (fold->length + length < fold->size)
        return 0;
    path = realloc(fold->path, size);
    if (path == NULL)
        return -1;
    fold->path = path;
    fold->size = size;
    return 0;
}

static void
enter(void *context, uint32_t node)
{
    struct fold *fold = context;
    const struct tree_node *at = &fold->tree->nodes[node];
    const char *name = tree_name(fold->tree, at->name);
    size_t length = strlen(name);

    if (fold->error == 0 && make_room(fold, length + 2) < 0)
        fold->error = ENOMEM;
    if (fold->error != 0)
        return;
    if (at->parent != 0)
        fold->path[fold->length++] = ';';
    memcpy(fold->path + fold->length, name, length + 1);
    fold->length += length;
    if (at->values[VALUE_SAMPLES] > 0 &&
        fprintf(fold->stream, "%s %llu\n", fold->path,
                (unsigned long long)at->values[VALUE_SAMPLES]) < 0)
        fold->error = errno;
}

static void
leave(void *context, uint32_t node)
{
    struct fold *fold = context;
    const struct tree_node *at = &fold->tree->nodes[node];

    if (fold->error == 0)
        fold->length -=
            strlen(tree_name(fold->tree, at->name)) + (at->parent != 0);
}

static int
write_tree(FILE *stream, struct profile *profile, enum tree_kind kind)
{
    struct fold fold = {.stream = stream};
    struct walk_visitor visitor = {enter, leave, &fold};
    struct tree *tree = tree_build(profile, kind);

    if (tree == NULL)
        return -1;
    fold.tree = tree;
    if (walk_tree(tree, &visitor) < 0)
        fold.error = ENOMEM;
    free(fold.path);
    tree_free(tree);
    errno = fold.error;
    return fold.error == 0 ? 0 : -1;
}

int
folded_write(FILE *stream, struct profile *profile)
{
    return write_tree(stream, profile, TREE_FOLDED);
}

int
folded_write_wall(FILE *stream, struct profile *profile)
{
    return write_tree(stream, profile, TREE_FOLDED_WALL);
}
