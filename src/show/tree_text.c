/* SPDX-License-Identifier: MIT */
/*
 * tree_text.c -- draws a tree. A step to the right is taken only at a fork. A
 * function that is its caller's only callee stands below it, with a ">":
 *
 *    cpu cum      %    ±  cpu flat      %  call tree
 *      2.000  100.0  0.2     0.000    0.0  main (app)
 *      2.000  100.0  0.2     0.000    0.0  > run (app)
 *      1.500   75.0  2.0     0.500   25.0  |- work (app)
 *      1.000   50.0  2.2     1.000   50.0  |  > inner (app)
 *      0.450   22.5  2.0     0.450   22.5  |- read (libc.so.6)
 *      0.050    2.5                        `- (3 more)
 *
 * The last line stands for branches that are too small to be drawn. A function
 * that only calls itself has one line, "fib (app), 20 deep". In a tree of
 * callers, main stands below what it calls, and an only caller has "<". It has
 * no flat column: a caller has no time of its own there.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "view/confidence.h"
#include "view/tree.h"
#include "columns.h"
#include "truncate.h"
#include "text_report.h"

/* Bits of the columns that a tree of callers lacks; least width of a name. */
enum { FLAT = 0x18, NAME_LEAST = 16 };

/* Bits of the columns that a narrow terminal may lack: all but the first. */
enum { DISPENSABLE = 0x1e };

/* Bytes of the rail that a fork adds. */
enum { RAIL = 3 };

/* RAILS stands in front of the children of the branch that was drawn last. Its
 * first ENDS[i] bytes belong to the children of branch I. */
struct drawing {
    FILE *stream;
    struct columns columns;
    const struct paint *paint;
    const struct tree *tree;
    const struct branches *branches;
    enum value value;
    struct confidence whole;
    bool callers;
    uint32_t rows; /* most branches to draw; 0: all */
    char *rails;   /* room for those of the deepest tree */
    uint32_t *ends;
};

/* Whether the children of BRANCH need rails; what is hidden counts as a child.
 */
static bool
is_fork(const struct drawing *drawing, const struct branch *branch)
{
    return branch->children + (branch->hidden_total[drawing->value] > 0) > 1;
}

/* Print the first LENGTH bytes of the rails, and MARK. If they leave no room
 * for names, only their end is printed: it distinguishes siblings. Returns the
 * columns that are left for the name. */
static unsigned
print_rails(struct drawing *drawing, uint32_t length, const char *mark)
{
    unsigned width = length + (unsigned)strlen(mark), skip = 0;
    const char *rails = drawing->rails;
    unsigned name = columns_last(&drawing->columns);
    if (name == 0) {
        fprintf(drawing->stream, "%.*s%s", (int)length, rails, mark);
        return 0;
    }
    if (width + NAME_LEAST > name) {
        unsigned room = name > NAME_LEAST ? name - NAME_LEAST : 0;
        skip = width - room < length ? width - room : length;
    }
    bool is_faint = drawing->columns.is_faint;
    fprintf(drawing->stream, "%s%.*s%s%s",
            is_faint ? "" : drawing->paint->faint, (int)(length - skip),
            rails + skip, mark, is_faint ? "" : drawing->paint->end);
    width -= skip;
    return name > width ? name - width : 1;
}

/* Print one line for the children of branch NUMBER that are too small. */
static void
draw_hidden(struct drawing *drawing, uint32_t number)
{
    const struct branch *branch = &drawing->branches->all[number];
    const char *mark = number != 0 && is_fork(drawing, branch) ? "`- " : "";
    if (branch->hidden_total[drawing->value] == 0)
        return;
    columns_time(&drawing->columns, branch->hidden_total[drawing->value],
                 (uint64_t)drawing->whole.value);
    columns_skip(&drawing->columns);
    columns_skip(&drawing->columns);
    columns_skip(&drawing->columns);
    print_rails(drawing, drawing->ends[number], mark);
    fprintf(drawing->stream, "%s(%u more)%s", drawing->paint->faint,
            branch->hidden, drawing->paint->end);
    columns_end_row(&drawing->columns);
}

/* Make the rails for the children of branch NUMBER; RAILS has those of its
 * parent. */
static void
extend_rails(struct drawing *drawing, uint32_t number, bool in_fork,
             bool is_last)
{
    const struct branch *branch = &drawing->branches->all[number];
    uint32_t length = drawing->ends[branch->parent];
    if (in_fork) {
        memcpy(drawing->rails + length, is_last ? "   " : "|  ", RAIL);
        length += RAIL;
    }
    drawing->ends[number] = length;
}

/* The length of the chain of branches from NUMBER on in which one function
 * calls only itself. */
static uint32_t
find_depth(const struct drawing *drawing, uint32_t number)
{
    const struct branch *all = drawing->branches->all;
    const struct tree_node *nodes = drawing->tree->nodes;
    uint32_t depth = 1, next = number + 1;
    while (next < drawing->branches->count && all[next].parent == next - 1 &&
           !is_fork(drawing, &all[next - 1]) &&
           nodes[all[next].node].name == nodes[all[number].node].name) {
        depth++;
        next++;
    }
    return depth;
}

/* Print the numbers of branch NUMBER and of the DEPTH - 1 below it as one. */
static void
print_numbers(struct drawing *drawing, uint32_t number, uint32_t depth)
{
    const struct branch *all = drawing->branches->all;
    uint64_t own = 0;
    for (uint32_t i = number; i < number + depth; i++)
        sum_add(&own, all[i].own[drawing->value]);
    const struct confidence total = {(double)all[number].total[drawing->value],
                                     all[number].squares[drawing->value]};
    uint64_t whole = (uint64_t)drawing->whole.value;
    if (confidence_is_low(&total))
        columns_faint(&drawing->columns);
    columns_time(&drawing->columns, all[number].total[drawing->value], whole);
    columns_percent(&drawing->columns,
                    confidence_interval(&total, &drawing->whole));
    columns_time(&drawing->columns, own, whole);
}

static void
draw_branch(struct drawing *drawing, uint32_t number, uint32_t depth)
{
    const struct branch *branch = &drawing->branches->all[number];
    const struct branch *parent = &drawing->branches->all[branch->parent];
    struct tree_label label =
        tree_label(drawing->tree, drawing->tree->nodes[branch->node].name);
    bool in_fork = branch->parent != 0 && is_fork(drawing, parent);
    bool is_last = branch->is_last && parent->hidden_total[drawing->value] == 0;
    const char *only = drawing->callers ? "< " : "> ";
    const char *mark = is_last ? "`- " : "|- ";
    char deep[32] = "";
    if (!in_fork)
        mark = branch->parent != 0 ? only : "";
    if (depth > 1)
        snprintf(deep, sizeof(deep), ", %u deep", depth);
    print_numbers(drawing, number, depth);
    unsigned columns =
        print_rails(drawing, drawing->ends[branch->parent], mark);
    if (columns > strlen(deep) + NAME_LEAST)
        columns -= (unsigned)strlen(deep);
    truncate_function(drawing->stream, label.function, label.module, columns);
    fputs(deep, drawing->stream);
    columns_end_row(&drawing->columns);
    extend_rails(drawing, number, in_fork, is_last);
    for (uint32_t i = 1; i < depth; i++)
        drawing->ends[number + i] = drawing->ends[number];
}

/* When a branch ends, the line for its hidden children follows its last child.
 */
static void
draw_all(struct drawing *drawing)
{
    const struct branches *branches = drawing->branches;
    uint32_t at = 0, depth, rows = 0;
    for (uint32_t i = 1; i < branches->count; i += depth) {
        if (drawing->rows > 0 && rows++ == drawing->rows) {
            fprintf(drawing->stream, "(%u more branches; -n 0 shows all)\n",
                    branches->count - i);
            return;
        }
        for (; at != branches->all[i].parent; at = branches->all[at].parent)
            draw_hidden(drawing, at);
        depth = find_depth(drawing, i);
        draw_branch(drawing, i, depth);
        at = i + depth - 1;
    }
    for (; at != 0; at = branches->all[at].parent)
        draw_hidden(drawing, at);
    draw_hidden(drawing, 0);
}

int
tree_text_write(FILE *stream, const struct profile *profile,
                const struct tree *tree, const struct branches *branches,
                bool callers, const struct text_report_options *options)
{
    bool by_cpu = options->value == VALUE_CPU;
    const struct column all[] = {
        {by_cpu ? "cpu cum" : "wall cum", 9, 0},
        {"%", 5, 2},
        {"±", 4, 1},
        {by_cpu ? "cpu flat" : "wall flat", 9, 1},
        {"%", 5, 2},
        {callers ? "callers" : "call tree", 0, 2},
        {NULL, 0, 0},
    };
    struct drawing drawing = {
        .stream = stream,
        .columns = {.stream = stream,
                    .all = all,
                    .paint = options->paint,
                    .limit = options->columns,
                    .has_error = options->has_error,
                    .least = NAME_LEAST,
                    .hidden = callers ? FLAT : 0},
        .paint = options->paint != NULL ? options->paint : &paint_none,
        .tree = tree,
        .branches = branches,
        .value = options->value,
        .whole = confidence_of(profile, options->value),
        .callers = callers,
        .rows = options->rows,
        .ends = calloc(branches->count, sizeof(uint32_t)),
        .rails = malloc((size_t)branches->count * RAIL),
    };
    int status = -1;
    if (drawing.ends != NULL && drawing.rails != NULL) {
        columns_fit(&drawing.columns, DISPENSABLE);
        columns_titles(&drawing.columns, NULL);
        draw_all(&drawing);
        status = 0;
    }
    free(drawing.ends);
    free(drawing.rails);
    if (status != 0)
        errno = ENOMEM;
    return status;
}
