/* SPDX-License-Identifier: MIT */
/* lines.c -- makes the table by lines, removes the other functions, and sorts
 * it like the source. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "match.h"
#include "tree.h"
#include "lines.h"

/* AROUND: lines of source before the first and after the last row.
 * BEFORE_MOST: limit of the lines between the declaration and the first row. */
enum { AROUND = 3, BEFORE_MOST = 200 };

/* Static functions may share a name: module and file distinguish them. */
static int
compare_functions(const struct table_row *one, const struct table_row *two)
{
    int order = strcmp(one->function, two->function);
    if (order == 0)
        order = strcmp(one->module, two->module);
    return order != 0 ? order : strcmp(one->file, two->file);
}

/* For qsort. */
static int
compare_rows(const void *a, const void *b)
{
    const struct table_row *one = a, *two = b;
    int order = compare_functions(one, two);
    return order != 0 ? order
                      : (one->line > two->line) - (one->line < two->line);
}

/* Remove the rows that MATCH (NULL: any) does not select, and sort the others.
 */
static void
choose(struct table *table, const struct match *match)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < table->count; i++)
        if (match == NULL || match_is(match, table->rows[i].function))
            table->rows[count++] = table->rows[i];
    table->count = count;
    if (count > 0)
        qsort(table->rows, count, sizeof(*table->rows), compare_rows);
}

int
lines_build(struct table *lines, struct profile *profile, const char *text,
            char *error, size_t size)
{
    struct tree *tree = tree_build(profile, TREE_LINES);
    int status = -1;
    *lines = (struct table){0};
    if (tree == NULL) {
        snprintf(error, size, "%s", strerror(errno));
        return -1;
    }
    struct match match;
    if (text == NULL || match_begin(&match, tree, text, error, size) == 0) {
        status = table_of_tree(lines, tree, VALUE_CPU);
        if (status != 0)
            snprintf(error, size, "%s", strerror(ENOMEM));
        else
            choose(lines, text != NULL ? &match : NULL);
        if (text != NULL)
            match_end(&match);
    }
    tree_free(tree);
    return status;
}

uint32_t
lines_of_function(const struct table *lines, uint32_t first)
{
    uint32_t end = first;
    while (end < lines->count &&
           compare_functions(&lines->rows[first], &lines->rows[end]) == 0)
        end++;
    return end - first;
}

void
lines_range(const struct table_row *row, uint32_t count, unsigned *first,
            unsigned *last)
{
    unsigned least = row->line, start = row->start_line;
    *last = row[count - 1].line + AROUND;
    *first = least > AROUND ? least - AROUND : 1;
    if (start > 0 && start < least && least - start < BEFORE_MOST)
        *first = start;
}
