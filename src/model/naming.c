/* SPDX-License-Identifier: MIT */
/*
 * naming.c -- see naming.h. Symbols are the costly part of a profile. So a node
 * gets its symbol when it is first shown, and a node that no output shows costs
 * nothing. There are many nodes but few addresses, so each address is asked for
 * once, and all at once: several files are read at a time.
 */
#include <stdbool.h>
#include <stdlib.h>

#include "symbol/symbolizer.h"
#include "util/array.h"
#include "util/intern.h"
#include "generated.h"
#include "naming.h"

/* The name for a marker when memory is short. */
static const struct symbol_frame nameless_frame = {"[?]", "[?]", "", 0, 0};
static const struct symbol nameless = {1, false, &nameless_frame};

/* The symbol of a marker, with its only frame. */
struct mark {
    struct symbol symbol;
    struct symbol_frame frame;
};

/* The parts of naming_budget: LEAST_NS is 0.3 ms for every profile. CPU_PART
 * adds a 20th of the CPU time (5 %). DURATION_PART adds a 200th of the duration
 * (0.5 %) beyond the first second, SHORT_NS. */
enum { LEAST_NS = 300000, CPU_PART = 20, DURATION_PART = 200 };

static const uint64_t SHORT_NS = 1000000000;

struct questions {
    struct symbol_question *items; /* by the numbers of KNOWN */
    struct intern known;           /* (id, offset) */
    uint32_t *by_node;             /* a number + 2; 1: no question; 0: unseen */
};

/* The number of a question, which is added if it is new. INTERN_NONE if memory
 * is short. */
static uint32_t
question_number(struct questions *questions, uint32_t id, uint64_t offset)
{
    uint64_t key[] = {id, offset};
    uint32_t count = intern_count(&questions->known);
    struct symbol_question *items =
        array_room(questions->items, count, sizeof(*items));
    if (items == NULL)
        return INTERN_NONE;
    questions->items = items;
    uint32_t number = intern_put(&questions->known, key, sizeof(key));
    if (number == count)
        items[count] = (struct symbol_question){.id = id, .offset = offset};
    return number;
}

/* Ask for NODE and its callers, up to a node that was seen. Markers and
 * generated code are in no module. Returns 0, or -1 if memory is short. */
static int
add_stack(struct questions *questions, const struct profile *profile,
          uint32_t node)
{
    uint32_t *by_node = questions->by_node;
    for (; node != 0 && by_node[node] == 0;
         node = profile->nodes[node].parent) {
        const struct profile_node *at = &profile->nodes[node];
        by_node[node] = 1;
        if (at->module == 0 || at->symbol != NULL ||
            profile_is_marker(profile, node))
            continue;
        uint32_t number =
            question_number(questions, profile->modules[at->module].symbols,
                            profile_offset(profile, node));
        if (number == INTERN_NONE)
            return -1;
        by_node[node] = number + 2;
    }
    return 0;
}

/* Have the questions answered, and give each node its answer: looking up each
 * node's would cost a cache miss in the symbolizer's table. */
static void
answer_questions(struct questions *questions, struct profile *profile)
{
    uint32_t count = intern_count(&questions->known);
    const struct symbol **answers = calloc(count + 1ul, sizeof(*answers));
    for (uint32_t i = 0; answers != NULL && i < count; i++)
        questions->items[i].answer = &answers[i];
    symbolizer_expect(profile->symbols, questions->items, count);
    for (uint32_t i = 0; answers != NULL && i < profile->node_count; i++)
        if (questions->by_node[i] > 1)
            profile->nodes[i].symbol = answers[questions->by_node[i] - 2];
    free(answers);
}

/* Names of a small file fit into this limit and are read in full. A program
 * that waits may spend less on names than one that computes: a caller that
 * waits for it also waits for its end. A program that waits for less than a
 * second may spend nothing for that, for example a compiler's driver, of which
 * a build starts hundreds. */
uint64_t
naming_budget(const struct profile *profile)
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

/* Look up the names on the stacks of all samples. If memory is short, names are
 * looked up one by one later. A profile that spares names gets no lines and no
 * inlined calls where reading them would take long compared with what was
 * recorded (docs/names.md). */
static void
look_up_names(struct profile *profile)
{
    struct questions questions = {
        .by_node = calloc(profile->node_count, sizeof(*questions.by_node))};
    int status = questions.by_node != NULL ? 0 : -1;
    for (uint32_t i = 0; status == 0 && i < profile->sample_count; i++)
        status = add_stack(&questions, profile, profile->samples[i].node);
    if (profile->spares_names)
        symbolizer_limit(profile->symbols, naming_budget(profile));
    if (status == 0)
        answer_questions(&questions, profile);
    intern_clear(&questions.known);
    free(questions.items);
    free(questions.by_node);
}

/* The place for the mark with NUMBER, NULL if memory is short. */
static struct mark **
mark_place(struct profile *profile, uint32_t number)
{
    while (profile->mark_count <= number) {
        struct mark **marks = array_room(profile->marks, profile->mark_count,
                                         sizeof(struct mark *));
        if (marks == NULL)
            return NULL;
        profile->marks = marks;
        marks[profile->mark_count++] = NULL;
    }
    return &profile->marks[number];
}

/* The symbol of the marker TEXT; equal texts share one. */
static const struct symbol *
marker(struct profile *profile, const char *text)
{
    uint32_t number = intern_string(profile->markers, text);
    struct mark **place =
        number == INTERN_NONE ? NULL : mark_place(profile, number);
    if (place == NULL)
        return &nameless;
    if (*place != NULL)
        return &(*place)->symbol;
    struct mark *mark = malloc(sizeof(*mark));
    if (mark == NULL)
        return &nameless;
    text = intern_bytes(profile->markers, number);
    mark->frame = (struct symbol_frame){text, text, "", 0, 0};
    mark->symbol = (struct symbol){1, true, &mark->frame};
    *place = mark;
    return &mark->symbol;
}

/* Find the symbol of a node that has none yet. */
static const struct symbol *
find_symbol(struct profile *profile, uint32_t node)
{
    const struct profile_node *at = &profile->nodes[node];
    if (node == PROFILE_NO_STACK)
        return marker(profile, "[no stack]");
    if (node == PROFILE_NOT_SAMPLED)
        return marker(profile, PROFILE_NOT_SAMPLED_NAME);
    if ((at->flags & NODE_TRUNCATED) != 0)
        return marker(profile, "[truncated]");
    /* The number of elided frames differs from sample to sample; one name keeps
     * the stacks together. */
    if ((at->flags & NODE_ELIDED) != 0)
        return marker(profile, "[frames elided]");
    if ((at->flags & NODE_GUESSED) != 0)
        return marker(profile, "[caller guessed]");
    const struct symbol *generated =
        at->module == 0 ? generated_symbol(profile, node) : NULL;
    if (generated != NULL)
        return generated;
    if (!profile->has_looked_up) {
        profile->has_looked_up = true;
        look_up_names(profile);
    }
    return symbolizer_find(profile->symbols,
                           profile->modules[at->module].symbols,
                           profile_offset(profile, node));
}

/* The pointer in the node is a cache. The symbolizer has its own, but asking it
 * costs a lookup for each frame that is shown. */
const struct symbol *
naming_symbol(struct profile *profile, uint32_t node)
{
    if (profile->nodes[node].symbol == NULL)
        profile->nodes[node].symbol = find_symbol(profile, node);
    return profile->nodes[node].symbol;
}
