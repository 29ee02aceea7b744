/* SPDX-License-Identifier: MIT */
/*
 * flame_text.c -- one line for each level of calls. A cell is a function, and
 * is as wide as its share of the whole. It stands below its caller. The largest
 * function is on the left:
 *
 *   [all 2.000 s CPU                       ]
 *   [main 100.0 %                          ]
 *   [work 75.0 %                 ][read    ]
 *   [inner 50.0 %      ]
 *   (one column is 0.050 s; 3 functions are narrower)
 *
 * A function that is narrower than a column is left out, with all below it.
 * Blanks below a function are its own time, and functions that were left out.
 * On a terminal with colours, neighbours have different colours and no
 * brackets.
 *
 * A cell ends at its value plus the values of all that is left of it, rounded
 * down. So cells never overlap, and no child reaches beyond its caller.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/number.h"
#include "view/tree.h"
#include "truncate.h"
#include "text_report.h"

/* Columns of the two brackets of a cell, and of its share. */
enum { BARE_COLUMNS = 2, SHARE_COLUMNS = 8 };

/* Least columns of a cell that has "..." in its name. A narrower cell has only
 * the beginning of the name. */
enum { FIT_COLUMNS = 10 };

/* A branch as it is drawn. */
struct cell {
    uint32_t branch;
    uint32_t level;     /* 0 is "all" */
    uint64_t begin;     /* in values, from the left */
    unsigned left, end; /* in columns */
    unsigned shade;     /* 0 or 1, different from its neighbours */
    unsigned children;  /* children placed so far */
};

struct flame {
    FILE *stream;
    const struct paint *paint;
    const struct profile *profile;
    const struct tree *tree;
    const struct branches *branches;
    enum value value;
    unsigned columns;
    uint64_t whole;     /* the value that all columns together stand for */
    struct cell *cells; /* by branch, then by level and from left to right */
    uint64_t *next;     /* by branch: where its next child begins */
    uint32_t count, narrow;
};

/* The column in which AMOUNT, of the whole, ends. */
static unsigned
column_of(const struct flame *flame, uint64_t amount)
{
    __extension__ unsigned __int128 product = amount;
    return flame->whole == 0
               ? 0
               : (unsigned)(product * flame->columns / flame->whole);
}

/* Find the place of every branch. Parents come before their children; children
 * come from left to right. */
static void
place_cells(struct flame *flame)
{
    for (uint32_t i = 0; i < flame->branches->count; i++) {
        const struct branch *branch = &flame->branches->all[i];
        struct cell *cell = &flame->cells[i];
        *cell = (struct cell){.branch = i};
        if (i > 0) {
            cell->level = flame->cells[branch->parent].level + 1;
            cell->begin = flame->next[branch->parent];
            cell->shade = (flame->cells[branch->parent].shade + 1 +
                           flame->cells[branch->parent].children++) %
                          2;
            sum_add(&flame->next[branch->parent], branch->total[flame->value]);
        }
        flame->next[i] = cell->begin;
        cell->left = column_of(flame, cell->begin);
        cell->end = column_of(flame, cell->begin + branch->total[flame->value]);
    }
}

/* For qsort. */
static int
compare_cells(const void *a, const void *b)
{
    const struct cell *one = a, *two = b;
    if (one->level != two->level)
        return one->level < two->level ? -1 : 1;
    return (one->branch > two->branch) - (one->branch < two->branch);
}

/* Keep the cells that have at least one column. */
static void
choose_cells(struct flame *flame)
{
    flame->count = 0;
    for (uint32_t i = 0; i < flame->branches->count; i++) {
        if (flame->cells[i].end > flame->cells[i].left)
            flame->cells[flame->count++] = flame->cells[i];
        else
            flame->narrow++;
    }
    qsort(flame->cells, flame->count, sizeof(*flame->cells), compare_cells);
}

/* Print the name and share of CELL in WIDTH columns, filled up with blanks. */
static void
print_text(const struct flame *flame, const struct cell *cell, unsigned width)
{
    const struct branch *branch = &flame->branches->all[cell->branch];
    uint64_t total = branch->total[flame->value];
    char share[32] = "", all[64];
    const char *name = all;
    if (cell->level == 0)
        snprintf(all, sizeof(all), "all %.3f s %s", number_seconds(total),
                 flame->value == VALUE_CPU ? "CPU" : "wall time");
    else
        name = tree_label(flame->tree, flame->tree->nodes[branch->node].name)
                   .function;
    unsigned length = truncate_width(name);
    if (cell->level > 0 && length + SHARE_COLUMNS <= width)
        snprintf(share, sizeof(share), " %.1f %%",
                 number_percent(total, flame->profile->totals[flame->value]));
    if (length > width && width < FIT_COLUMNS)
        truncate_start(flame->stream, name, width);
    else
        truncate_name(flame->stream, name, width);
    length = length > width ? width : length;
    fprintf(flame->stream, "%s%*s", share,
            (int)(width - length - truncate_width(share)), "");
}

/* Print CELL; COLUMN is the next column to be printed. Returns the column after
 * CELL. */
static unsigned
print_cell(const struct flame *flame, const struct cell *cell, unsigned column)
{
    unsigned width = cell->end - cell->left;
    const char *colour = flame->paint->cells[cell->shade];
    fprintf(flame->stream, "%*s%s", (int)(cell->left - column), "", colour);
    if (colour[0] != '\0')
        print_text(flame, cell, width);
    else if (width <= BARE_COLUMNS)
        fprintf(flame->stream, "%.*s", (int)width,
                width == BARE_COLUMNS ? "[]" : "|");
    if (colour[0] == '\0' && width > BARE_COLUMNS) {
        fputc('[', flame->stream);
        print_text(flame, cell, width - BARE_COLUMNS);
        fputc(']', flame->stream);
    }
    fputs(colour[0] != '\0' ? flame->paint->end : "", flame->stream);
    return cell->end;
}

static void
print_cells(const struct flame *flame)
{
    unsigned column = 0;
    for (uint32_t i = 0; i < flame->count; i++) {
        if (i > 0 && flame->cells[i].level != flame->cells[i - 1].level) {
            fputc('\n', flame->stream);
            column = 0;
        }
        column = print_cell(flame, &flame->cells[i], column);
    }
    if (flame->count > 0)
        fputc('\n', flame->stream);
    fprintf(flame->stream, "%s(one column is %.3f s", flame->paint->faint,
            number_seconds(flame->whole) / flame->columns);
    if (flame->narrow > 0)
        fprintf(flame->stream, "; %u functions are narrower", flame->narrow);
    fprintf(flame->stream, ")%s\n", flame->paint->end);
}

int
flame_text_write(FILE *stream, const struct profile *profile,
                 const struct tree *tree, const struct branches *branches,
                 const struct text_report_options *options)
{
    struct flame flame = {
        .stream = stream,
        .paint = options->paint != NULL ? options->paint : &paint_none,
        .profile = profile,
        .tree = tree,
        .branches = branches,
        .value = options->value,
        .columns = options->columns > 0 ? options->columns : FLAME_TEXT_COLUMNS,
        .whole = branches->all[0].total[options->value],
        .cells = calloc(branches->count, sizeof(struct cell)),
        .next = calloc(branches->count, sizeof(uint64_t)),
    };
    int status = -1;
    if (flame.cells != NULL && flame.next != NULL) {
        place_cells(&flame);
        choose_cells(&flame);
        print_cells(&flame);
        status = 0;
    }
    free(flame.next);
    free(flame.cells);
    if (status != 0)
        errno = ENOMEM;
    return status;
}
