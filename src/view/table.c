/* SPDX-License-Identifier: MIT */
/*
 * table.c -- sums over the tree of names. A node's total is its own values
 * and those below it. On a walk through the tree, a node's total is added
 * to its function only if the function is not on the path already. So
 * recursion counts once.
 *
 * Threads, processes, states and labels are in samples and not in frames, and
 * are summed up without a tree. Threads and processes have their numbers
 * already. States are compared by name, because a number may mean another
 * system call on another machine.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "model/label_sets.h"
#include "model/naming.h"
#include "model/sample_state.h"
#include "util/array.h"
#include "util/intern.h"
#include "confidence.h"
#include "tree.h"
#include "table.h"

/* The walk's state. */
struct count {
    const struct tree *tree;
    struct table_row *rows;   /* by name */
    struct tree_sums *totals; /* by node */
    uint32_t *on_path;        /* by name: how often it is on the path */
};

static void
count_node(void *context, uint32_t node)
{
    struct count *count = context;
    const struct tree_node *at = &count->tree->nodes[node];
    struct table_row *row = &count->rows[at->name];
    tree_add_values(row->flat, at->values);
    tree_add_squares(row->flat_squares, at->squares);
    if (count->on_path[at->name]++ != 0)
        return;
    tree_add_values(row->cumulative, count->totals[node].values);
    tree_add_squares(row->cumulative_squares, count->totals[node].squares);
}

static void
leave_node(void *context, uint32_t node)
{
    struct count *count = context;
    count->on_path[count->tree->nodes[node].name]--;
}

/* The fields that rows are compared by. */
struct key {
    enum value value;
    enum table_order order;
};

/* Ties are broken by all other fields, so that output is stable. */
static int
compare_rows(const void *a, const void *b, void *context)
{
    const struct table_row *one = a, *two = b;
    const struct key *key = context;
    enum value value = key->value;
    int order = one->is_last - two->is_last;
    if (order == 0 && key->order == TABLE_CUMULATIVE)
        order = tree_larger(one->cumulative[value], two->cumulative[value]);
    if (order == 0)
        order = tree_larger(one->flat[value], two->flat[value]);
    if (order == 0)
        order = tree_larger(one->cumulative[value], two->cumulative[value]);
    if (order == 0)
        order = tree_larger(one->flat[VALUE_SAMPLES], two->flat[VALUE_SAMPLES]);
    if (order == 0)
        order = tree_larger(one->cumulative[VALUE_SAMPLES],
                            two->cumulative[VALUE_SAMPLES]);
    if (order == 0)
        order = strcmp(one->function, two->function);
    if (order == 0)
        order = strcmp(one->module, two->module);
    if (order == 0)
        order = strcmp(one->file, two->file);
    if (order == 0)
        order = (one->line > two->line) - (one->line < two->line);
    return order != 0 ? order : (one->id > two->id) - (one->id < two->id);
}

void
table_sort(struct table *table, enum value value, enum table_order order)
{
    struct key key = {value, order};
    if (table->count > 0)
        qsort_r(table->rows, table->count, sizeof(*table->rows), compare_rows,
                &key);
}

int
table_by_name(struct table *table, const struct tree *tree)
{
    table->count = tree_name_count(tree);
    if (!ARRAY_NEW(table->rows, table->count))
        return -1;
    for (uint32_t i = 0; i < table->count; i++) {
        struct tree_label label = tree_label(tree, i);
        table->rows[i].function = label.function;
        table->rows[i].module = label.module;
        table->rows[i].file = label.file;
        table->rows[i].line = label.line;
        table->rows[i].start_line = label.start_line;
    }
    struct count count = {.tree = tree,
                          .rows = table->rows,
                          .totals = tree_totals(tree)};
    struct tree_visitor visitor = {count_node, leave_node, &count};
    int status = -1;
    if (count.totals != NULL && ARRAY_NEW(count.on_path, table->count))
        status = tree_walk_by_number(tree, &visitor);
    free(count.on_path);
    free(count.totals);
    if (status != 0)
        table_release(table);
    return status;
}

int
table_of_tree(struct table *table, const struct tree *tree, enum value value)
{
    int status = table_by_name(table, tree);
    if (status == 0)
        table_sort(table, value, TABLE_FLAT);
    return status;
}

/* A row is made from a number that identifies it, its name, and its tid or pid;
 * that of an activity also from a text. */
struct group {
    uint32_t number, id;
    const char *name, *text;
};

/* The name of the node of idle threads; NULL: they are not folded. */
static const char *
idle_name_of(struct profile *profile)
{
    return profile->idle_node != 0
               ? naming_symbol(profile, profile->idle_node)->frames[0].function
               : NULL;
}

static struct group
group_of(struct profile *profile, const struct profile_sample *sample,
         enum table_by by, const char *key)
{
    const struct profile_thread *thread = &profile->threads[sample->thread];
    const struct profile_process *process =
        &profile->processes[thread->process];
    const char *name;
    switch (by) {
    case TABLE_THREAD:
        if (profile->idle_node != 0 && thread->is_idle)
            return (struct group){INTERN_NONE, 0, idle_name_of(profile), ""};
        return (struct group){sample->thread, thread->tid, thread->name, ""};
    case TABLE_PROCESS:
        return (struct group){thread->process, process->pid,
                              path_name(process->exe), ""};
    case TABLE_EXE:
        name = process->exe;
        break;
    case TABLE_COMMAND:
        name = process->command;
        break;
    case TABLE_LABEL:
        name = label_sets_value(profile, sample->labels, key);
        break;
    default:
        name = sample_state_name(profile, sample);
    }
    /* No string of the profile is in brackets by chance: the row of samples
     * without the key has a number that no string has. */
    if (name == NULL)
        return (struct group){INTERN_NONE, 0, TABLE_NO_LABEL, ""};
    return (struct group){intern_string(profile->strings, name), 0, name,
                          by == TABLE_ACTIVITY ? sample->waits_on : ""};
}

/* The row of GROUP, which is made if it is new; NULL if memory is short. */
static struct table_row *
find_row(struct table *table, struct profile *profile, struct intern *keys,
         const struct group *group)
{
    uint32_t key[2] = {group->number,
                       intern_string(profile->strings, group->text)};
    struct table_row *rows =
        array_room(table->rows, table->count, sizeof(*rows));
    uint32_t number = intern_put(keys, key, sizeof(key));
    if (rows != NULL)
        table->rows = rows;
    if (rows == NULL || number == INTERN_NONE || key[1] == INTERN_NONE)
        return NULL;
    if (number == table->count)
        rows[table->count++] = (struct table_row){
            .function = group->name,
            .module = group->text,
            .file = "",
            .id = group->id,
            .number = group->number,
        };
    return &rows[number];
}

/* Flat and cumulative are the same: a sample has one thread and one state, with
 * nothing below it. */
static int
build_groups(struct table *table, struct profile *profile, enum table_by by,
             const char *key, enum value value)
{
    struct intern *keys = intern_new();
    bool failed = keys == NULL;
    for (uint32_t i = 0; i < profile->sample_count && !failed; i++) {
        const struct profile_sample *sample = &profile->samples[i];
        struct group group = group_of(profile, sample, by, key);
        struct table_row *row = find_row(table, profile, keys, &group);
        failed = row == NULL;
        if (failed)
            break;
        row->is_idle =
            by == TABLE_THREAD && profile->threads[sample->thread].is_idle;
        row->is_last = row->is_idle && profile->idle_node != 0;
        tree_add_values(row->flat, sample->values);
        tree_add_values(row->cumulative, sample->values);
        for (enum value j = VALUE_CPU; j < VALUE_COUNT; j++) {
            row->flat_squares[j] += confidence_squares(profile, sample, j);
            row->cumulative_squares[j] = row->flat_squares[j];
        }
    }
    intern_free(keys);
    if (failed) {
        table_release(table);
        errno = ENOMEM;
        return -1;
    }
    table_sort(table, value, TABLE_FLAT);
    return 0;
}

/* Functions, lines and modules are in frames, and need a tree. The others are
 * in samples, which need none. */
int
table_build(struct table *table, struct profile *profile, enum table_by by,
            const char *key, enum value value)
{
    static const enum tree_kind kinds[] = {
        [TABLE_FUNCTION] = TREE_FUNCTIONS,
        [TABLE_LINE] = TREE_LINES,
        [TABLE_MODULE] = TREE_MODULES,
    };
    *table = (struct table){0};
    if (by > TABLE_MODULE)
        return build_groups(table, profile, by, key, value);
    struct tree *tree = tree_build(profile, kinds[by]);
    if (tree == NULL)
        return -1;
    int status = table_by_name(table, tree);
    for (uint32_t i = 0; i < table->count && profile->idle_node != 0; i++)
        table->rows[i].is_last =
            table->rows[i].function == idle_name_of(profile);
    if (status == 0)
        table_sort(table, value, TABLE_FLAT);
    tree_free(tree);
    return status;
}

void
table_release(struct table *table)
{
    free(table->rows);
    *table = (struct table){0};
}
