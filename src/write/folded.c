/* SPDX-License-Identifier: MIT */
/*
 * folded.c -- one line for each stack: the frames from the root to the leaf,
 * separated by ';', a space, and its CPU time. The unit is a period of the rate
 * that was asked for, 1 ms at 1,000 Hz, so the number is that of the samples
 * where the rate was reached. From
 *
 *   3 ms     main -> parse -> next_token     running
 *   2 ms     main -> parse                   running, two threads
 *   4 ms     main -> read                    waiting for a disk
 *
 * it makes exactly
 *
 *   main;parse 2
 *   main;parse;next_token 3
 *
 * and, for wall time, a third line
 *
 *   main;read;[waiting] 4
 *
 * Wall time is that of all states. The last frame "[waiting]", "[runnable]" or
 * "[gpu]" keeps waiting and working apart. So does "[gpu, spinning]" for CPU
 * time. A stack that was seen has at least 1. If the input has no times,
 * samples are counted. A ';' or control character in a name becomes '?'. Lines
 * are sorted frame by frame.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "view/tree.h"
#include "output_file.h"

/* The state of the walk: PATH is the line up to the node that was entered last.
 */
struct fold {
    FILE *stream;
    const struct tree *tree;
    enum value value; /* that the widths stand for */
    uint64_t period;  /* ns; 0: the input has no times */
    char *path;
    size_t length, size;
    int error; /* errno of the first failure, 0 if none */
};

static int
make_room(struct fold *fold, size_t length)
{
    size_t size = 2 * (fold->length + length);
    if (fold->length + length < fold->size)
        return 0;
    char *path = realloc(fold->path, size);
    if (path == NULL)
        return -1;
    fold->path = path;
    fold->size = size;
    return 0;
}

/* The number after the stack that ends at AT. */
static uint64_t
count_of(const struct fold *fold, const struct tree_node *at)
{
    uint64_t samples = at->values[VALUE_SAMPLES];
    uint64_t time = at->values[fold->value];
    if (fold->period == 0)
        return samples;
    uint64_t periods =
        time / fold->period + (time % fold->period >= fold->period / 2);
    return periods == 0 && (time > 0 || samples > 0) ? 1 : periods;
}

static void
enter_node(void *context, uint32_t node)
{
    struct fold *fold = context;
    const struct tree_node *at = &fold->tree->nodes[node];
    const char *name = tree_name(fold->tree, at->name);
    size_t length = strlen(name);
    uint64_t count = count_of(fold, at);
    if (fold->error == 0 && make_room(fold, length + 2) != 0)
        fold->error = ENOMEM;
    if (fold->error != 0)
        return;
    if (at->parent != 0)
        fold->path[fold->length++] = ';';
    memcpy(fold->path + fold->length, name, length + 1);
    fold->length += length;
    if (count > 0 && fprintf(fold->stream, "%s %llu\n", fold->path,
                             (unsigned long long)count) < 0)
        fold->error = errno;
}

static void
leave_node(void *context, uint32_t node)
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
    struct fold fold = {.stream = stream,
                        .value = kind == TREE_FOLDED ? VALUE_CPU : VALUE_WALL};
    struct tree_visitor visitor = {enter_node, leave_node, &fold};
    if (profile->process_count > 0 && profile->totals[fold.value] > 0)
        fold.period = profile->processes[0].period;
    struct tree *tree = tree_build(profile, kind);
    if (tree == NULL)
        return -1;
    fold.tree = tree;
    if (tree_walk_by_name(tree, &visitor) != 0)
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
