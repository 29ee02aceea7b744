/* SPDX-License-Identifier: MIT */
/* names.c -- see names.h. Nodes are many, addresses few: each is asked for
 * once.
 */
#include "names.h"

#include <stdbool.h>
#include <stdlib.h>

#include "symbol/address_table.h"
#include "symbol/symbolizer.h"

/* See names_budget: 0.3 ms, 5 % of the CPU time, and 0.5 % of the duration
 * behind the first second. */
enum { LEAST_NS = 300000, CPU_PART = 20, DURATION_PART = 200 };

static const uint64_t SHORT_NS = 1000000000;

struct questions {
    struct symbol_question *items;
    size_t count, capacity;
    struct address_table known; /* (id, offset): any value */
};

/* Returns -1 if memory is short. */
static int
add(struct questions *questions, uint32_t id, uint64_t offset)
{
    static char known;

    if (address_table_find(&questions->known, id, offset) != NULL)
        return 0;
    if (questions->count == questions->capacity) {
        size_t capacity = questions->capacity * 2 + 64;
        struct symbol_question *items =
            reallocarray(questions->items, capacity, sizeof *questions->items);
        if (items == NULL)
            return -1;
        questions->items = items;
        questions->capacity = capacity;
    }
    questions->items[questions->count++] =
        (struct symbol_question){.id = id, .offset = offset};
    return address_table_put(&questions->known, id, offset, &known);
}

/* What NODE and its callers are, up to one that was SEEN. Markers and generated
 * code are in no module. */
static int
add_stack(struct questions *questions, const struct profile *profile,
          uint32_t node, bool *seen)
{
    for (; node != 0 && !seen[node]; node = profile->nodes[node].parent) {
        const struct profile_node *at = &profile->nodes[node];
        seen[node] = true;
        if (at->module != 0 && at->symbol == NULL &&
            !profile_is_marker(profile, node) &&
            add(questions, profile->modules[at->module].symbols,
                profile_offset(profile, node)) < 0)
            return -1;
    }
    return 0;
}

/* What names may take of a profile that spares them: a small file's are read as
 * ever. A program that waits pays less than one that computes: whoever waits
 * for it, waits for its end, too. One that waits for less than a second has
 * nothing to pay with: a compiler's driver, say, of which a build starts
 * hundreds. */
uint64_t
names_budget(const struct profile *profile)
{
    uint64_t duration = 0;

    for (uint32_t i = 0; i < profile->process_count; i++)
        if (profile->processes[i].duration > duration)
            duration = profile->processes[i].duration;
    if (duration < SHORT_NS)
        duration = SHORT_NS;
    return LEAST_NS + profile->totals[VALUE_CPU] / CPU_PART +
           (duration - SHORT_NS) / DURATION_PART;
}

void
names_look_up(struct profile *profile)
{
    struct questions questions = {.items = NULL};
    bool *seen = calloc(profile->node_count, sizeof *seen);
    int status = seen != NULL ? 0 : -1;

    for (uint32_t i = 0; status == 0 && i < profile->sample_count; i++)
        status = add_stack(&questions, profile, profile->samples[i].node, seen);
    if (profile->spares_names)
        symbolizer_limit(profile->symbols, names_budget(profile));
    if (status == 0)
        symbolizer_expect(profile->symbols, questions.items, questions.count);
    address_table_free(&questions.known);
    free(questions.items);
    free(seen);
}
