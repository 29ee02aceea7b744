/* SPDX-License-Identifier: MIT */
/*
 * nameless.c -- see nameless.h. Parents come before children, so one pass over
 * the nodes shows for each whether its stack has a place of one file. Each row
 * takes a pass.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/naming.h"
#include "util/array.h"
#include "util/intern.h"
#include "nameless.h"

enum { ROWS_MAX = 64 };

/* The state while building. ROW_OF has an entry for each node of the profile:
 * NO_SAMPLE, NAMED or the number of a row. */
struct search {
    struct profile *profile;
    struct nameless *nameless;
    struct intern *files;  /* symbolizer's ids; numbers are rows */
    struct intern *places; /* (row, offset) */
    struct intern functions;
    uint32_t *row_of;
    bool *has;
};
#define NO_SAMPLE UINT32_MAX
#define NAMED (UINT32_MAX - 1)

/* Mark the nodes on the stacks of samples as NAMED. */
static void
mark_nodes(struct search *search)
{
    const struct profile *profile = search->profile;
    for (uint32_t i = 0; i < profile->node_count; i++)
        search->row_of[i] = NO_SAMPLE;
    for (uint32_t i = 0; i < profile->sample_count; i++)
        for (uint32_t node = profile->samples[i].node;
             node != 0 && search->row_of[node] == NO_SAMPLE;
             node = profile->nodes[node].parent)
            search->row_of[node] = NAMED;
}

/* The row for a node of MODULE, made if it is the first of its file.
 * INTERN_NONE if memory is short. */
static uint32_t
find_row(struct search *search, uint32_t module)
{
    struct nameless *nameless = search->nameless;
    uint32_t file = search->profile->modules[module].symbols;
    if (!ARRAY_GROW(nameless->rows, nameless->count))
        return INTERN_NONE;
    uint32_t number = intern_put(search->files, &file, sizeof(file));
    if (number == nameless->count && number != INTERN_NONE)
        nameless->rows[nameless->count++] =
            (struct nameless_row){.module = module};
    return number;
}

/* Find out whether NODE has a name; if not, count its place once. Returns 0, or
 * -1 if memory is short. */
static int
look_at(struct search *search, uint32_t node)
{
    struct profile *profile = search->profile;
    uint32_t module = profile->nodes[node].module;
    search->row_of[node] = NAMED;
    if (profile_is_marker(profile, node) || naming_symbol(profile, node)->named)
        return 0;
    uint32_t row = find_row(search, module);
    if (row == INTERN_NONE)
        return -1;
    search->row_of[node] = row;
    uint64_t key[2];
    key[0] = row;
    key[1] = profile_offset(profile, node);
    uint32_t known = intern_count(search->places);
    uint32_t place = intern_put(search->places, key, sizeof(key));
    search->nameless->rows[row].places += place == known;
    return place == INTERN_NONE ? -1 : 0;
}

static bool
is_wanted(const struct search *search, const bool wanted[ROWS_MAX],
          uint32_t node)
{
    uint32_t row = search->row_of[node];
    return row < ROWS_MAX && wanted[row];
}

/* Sum up in ROW the samples whose stacks have a place of a row whose number is
 * WANTED. */
static void
sum_rows(struct search *search, const bool wanted[ROWS_MAX],
         struct nameless_row *row)
{
    const struct profile *profile = search->profile;
    bool *has = search->has;
    has[0] = false;
    for (uint32_t i = 1; i < profile->node_count; i++)
        has[i] = is_wanted(search, wanted, i) || has[profile->nodes[i].parent];
    for (uint32_t i = 0; i < profile->sample_count; i++) {
        if (has[profile->samples[i].node])
            for (unsigned j = 0; j < VALUE_COUNT; j++)
                sum_add(&row->values[j], profile->samples[i].values[j]);
    }
}

/* Add what was spent in each function of the rows' files. Equal names have one
 * address: they are texts of the symbolizer or of the profile. Returns 0, or -1
 * if memory is short. */
static int
sum_functions(struct search *search)
{
    struct profile *profile = search->profile;
    struct nameless *nameless = search->nameless;
    for (uint32_t i = 0; i < profile->sample_count; i++) {
        const struct profile_sample *sample = &profile->samples[i];
        uint32_t row = search->row_of[sample->node];
        if (row >= nameless->count || profile->nodes[sample->node].module == 0)
            continue;
        const struct symbol *symbol = naming_symbol(profile, sample->node);
        const char *name = symbol->frames[symbol->count - 1].function;
        const uintptr_t key[2] = {row, (uintptr_t)name};
        uint32_t number = intern_put(&search->functions, key, sizeof(key));
        if (number == INTERN_NONE ||
            !ARRAY_GROW(nameless->functions, nameless->function_count))
            return -1;
        if (number == nameless->function_count)
            nameless->functions[nameless->function_count++] =
                (struct nameless_function){.name = name,
                                           .row = row,
                                           .node = sample->node};
        for (unsigned j = 0; j < VALUE_COUNT; j++)
            sum_add(&nameless->functions[number].values[j], sample->values[j]);
    }
    return 0;
}

static bool
is_small(const struct profile *profile, const struct nameless_row *row)
{
    return row->values[VALUE_CPU] <
               profile->totals[VALUE_CPU] / NAMELESS_SMALL &&
           row->values[VALUE_WALL] <
               profile->totals[VALUE_WALL] / NAMELESS_SMALL;
}

/* Move the small rows after the others, both in their order, and sum them
 * up. */
static void
gather_small(struct search *search)
{
    struct nameless *nameless = search->nameless;
    bool wanted[ROWS_MAX] = {false};
    uint32_t count = 0, all = nameless->count;
    struct nameless_row sorted[ROWS_MAX];
    for (unsigned small = 0; small < 2; small++)
        for (uint32_t i = 0; i < all; i++)
            if (is_small(search->profile, &nameless->rows[i]) == (small == 1))
                sorted[count++] = nameless->rows[i];
    for (uint32_t i = 0; i < all; i++)
        nameless->rows[i] = sorted[i];
    while (nameless->count > 0 &&
           is_small(search->profile, &sorted[nameless->count - 1]))
        nameless->count--;
    nameless->small = all - nameless->count;
    if (nameless->small == 1) {
        nameless->count = all;
        nameless->small = 0;
    }
    for (uint32_t i = nameless->count; i < all; i++) {
        wanted[sorted[i].number] = true;
        nameless->rest.places += sorted[i].places;
    }
    if (nameless->small > 0)
        sum_rows(search, wanted, &nameless->rest);
}

/* For qsort: the most CPU time first, then wall time. */
static int
compare_values(const uint64_t *one, const uint64_t *two)
{
    static const enum value order[] = {VALUE_CPU, VALUE_WALL};
    for (unsigned i = 0; i < 2; i++)
        if (one[order[i]] != two[order[i]])
            return one[order[i]] > two[order[i]] ? -1 : 1;
    return 0;
}

/* For qsort: of rows with equal values, the most places first. */
static int
compare_rows(const void *a, const void *b)
{
    const struct nameless_row *one = a, *two = b;
    int order = compare_values(one->values, two->values);
    return order != 0
               ? order
               : (one->places < two->places) - (one->places > two->places);
}

static int
compare_functions(const void *a, const void *b)
{
    const struct nameless_function *one = a, *two = b;
    int order = compare_values(one->values, two->values);
    return order != 0 ? order : strcmp(one->name, two->name);
}

/* Rows keep their numbers until all are summed. With more than ROWS_MAX files,
 * which only a damaged spool has, the later ones are left out. Returns 0, or -1
 * if memory is short. */
static int
find_rows(struct search *search)
{
    const struct profile *profile = search->profile;
    struct nameless *nameless = search->nameless;
    mark_nodes(search);
    for (uint32_t i = 1; i < profile->node_count; i++)
        if (search->row_of[i] != NO_SAMPLE && look_at(search, i) != 0)
            return -1;
    if (nameless->count > ROWS_MAX)
        nameless->count = ROWS_MAX;
    for (uint32_t i = 0; i < nameless->count; i++) {
        bool wanted[ROWS_MAX] = {false};
        wanted[i] = true;
        sum_rows(search, wanted, &nameless->rows[i]);
        nameless->rows[i].number = i;
    }
    if (sum_functions(search) != 0)
        return -1;
    if (nameless->count > 0)
        qsort(nameless->rows, nameless->count, sizeof(*nameless->rows),
              compare_rows);
    if (nameless->function_count > 0)
        qsort(nameless->functions, nameless->function_count,
              sizeof(*nameless->functions), compare_functions);
    gather_small(search);
    return 0;
}

int
nameless_build(struct nameless *nameless, struct profile *profile)
{
    struct search search = {.profile = profile, .nameless = nameless};
    int status = -1;
    *nameless = (struct nameless){0};
    search.files = intern_new();
    search.places = intern_new();
    if (search.files != NULL && search.places != NULL &&
        ARRAY_NEW(search.row_of, profile->node_count) &&
        ARRAY_NEW(search.has, profile->node_count))
        status = find_rows(&search);
    free(search.has);
    free(search.row_of);
    intern_clear(&search.functions);
    intern_free(search.places);
    intern_free(search.files);
    if (status == 0)
        return 0;
    nameless_release(nameless);
    errno = ENOMEM;
    return -1;
}

void
nameless_release(struct nameless *nameless)
{
    free(nameless->functions);
    free(nameless->rows);
    *nameless = (struct nameless){0};
}
