/* SPDX-License-Identifier: MIT */
/*
 * stacks_group.c -- groups of threads that do the same with the same stack: the
 * same functions, files and lines. Ten thousand threads stand at a few places.
 * So each node is named once, and its stack then has a number. The number
 * stands for the frames of the node on top of the stack of its parent.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/naming.h"
#include "util/array.h"
#include "util/intern.h"
#include "stacks.h"

/* Numbers of stacks, from 1 on. A stack is a frame on top of another stack:
 * (stack below or 0, function, file, line). */
struct naming {
    struct profile *profile;
    struct intern *strings;
    struct intern *stacks;
    uint32_t *named; /* stack of each node; 0: none, NEEDED: not named yet */
};
#define NEEDED UINT32_MAX

/* The stack of FRAME on top of BELOW; 0 if memory is short. */
static uint32_t
stack_on(struct naming *naming, uint32_t below,
         const struct symbol_frame *frame, uint64_t detail)
{
    uint64_t key[3] = {below, 0, detail};
    uint32_t function = intern_string(naming->strings, frame->function);
    uint32_t file = intern_string(naming->strings, frame->file);
    if (function == INTERN_NONE || file == INTERN_NONE)
        return 0;
    key[1] = (uint64_t)function << 32 | file;
    uint32_t number = intern_put(naming->stacks, key, sizeof(key));
    return number == INTERN_NONE ? 0 : number + 1;
}

/* The stack of NODE on top of BELOW; 0 if memory is short. Markers differ by
 * what they say, functions without a line by their module. */
static uint32_t
name_node(struct naming *naming, uint32_t node, uint32_t below)
{
    const struct profile_node *at = &naming->profile->nodes[node];
    const struct symbol *symbol = naming_symbol(naming->profile, node);
    uint64_t detail = (uint64_t)at->module << 32;
    uint32_t stack = below;
    if (profile_is_marker(naming->profile, node))
        detail = at->offset ^ (uint64_t)at->flags << 56;
    for (unsigned i = symbol->count; i > 0; i--) {
        const struct symbol_frame *frame = &symbol->frames[i - 1];
        stack = stack_on(naming, stack, frame, detail + frame->line);
        if (stack == 0)
            return 0;
    }
    return stack;
}

/* Name the nodes on the stacks of threads, parents first. Returns 0, or -1 if
 * memory is short. */
static int
name_nodes(struct naming *naming, const struct stacks *stacks)
{
    const struct profile *profile = naming->profile;
    uint32_t *named = naming->named;
    for (uint32_t i = 0; i < stacks->thread_count; i++)
        for (uint32_t node = stacks->threads[i].node;
             stacks->threads[i].is_kept && node != 0 && named[node] == 0;
             node = profile->nodes[node].parent)
            named[node] = NEEDED;
    for (uint32_t i = 1; i < profile->node_count; i++) {
        if (named[i] != NEEDED)
            continue;
        named[i] = name_node(naming, i, named[profile->nodes[i].parent]);
        if (named[i] == 0)
            return -1;
    }
    return 0;
}

/* Give THREAD the number of its group, which may be new. Returns 0, or -1 if
 * memory is short. */
static int
find_group(const struct naming *naming, struct intern *keys,
           struct stacks_thread *thread)
{
    uint64_t key[3] = {naming->named[thread->node],
                       (uint64_t)thread->state << 8 | thread->cause,
                       (uintptr_t)thread->doing};
    if (stacks_is_waiting(thread))
        key[1] |= (uint64_t)thread->system_call << 16;
    thread->group = intern_put(keys, key, sizeof(key));
    return thread->group == INTERN_NONE ? -1 : 0;
}

/* A group that is not in order yet. */
struct rank {
    uint32_t number, count, smallest; /* SMALLEST: number of a thread */
};

/* For qsort. */
static int
compare_ranks(const void *a, const void *b)
{
    const struct rank *one = a, *two = b;
    if (one->count != two->count)
        return one->count > two->count ? -1 : 1;
    return one->smallest < two->smallest ? -1 : 1;
}

/* The ranks of COUNT groups, the largest first, for the caller to free. NULL if
 * memory is short. */
static struct rank *
rank_groups(const struct stacks *stacks, uint32_t count)
{
    struct rank *ranks = calloc(count + 1u, sizeof(*ranks));
    if (ranks == NULL)
        return NULL;
    for (uint32_t i = stacks->thread_count; i > 0; i--) {
        const struct stacks_thread *thread = &stacks->threads[i - 1];
        if (!thread->is_kept)
            continue;
        ranks[thread->group].number = thread->group;
        ranks[thread->group].count++;
        ranks[thread->group].smallest = i - 1;
    }
    qsort(ranks, count, sizeof(*ranks), compare_ranks);
    return ranks;
}

/* Put COUNT groups in order. Before this, thread->group is a number in order of
 * appearance. */
static int
place_groups(struct stacks *stacks, uint32_t count)
{
    struct rank *ranks = rank_groups(stacks, count);
    uint32_t *place = NULL, used = 0;
    if (ranks == NULL || !ARRAY_NEW(place, count) ||
        !ARRAY_NEW(stacks->groups, count) ||
        !ARRAY_NEW(stacks->order, stacks->thread_count)) {
        free(ranks);
        free(place);
        return -1;
    }
    stacks->group_count = count;
    for (uint32_t i = 0; i < count; i++) {
        place[ranks[i].number] = i;
        stacks->groups[i].first = used;
        used += ranks[i].count;
    }
    for (uint32_t i = 0; i < stacks->thread_count; i++) {
        struct stacks_thread *thread = &stacks->threads[i];
        if (!thread->is_kept)
            continue;
        thread->group = place[thread->group];
        struct stacks_group *group = &stacks->groups[thread->group];
        stacks->order[group->first + group->count++] = i;
    }
    free(ranks);
    free(place);
    return 0;
}

/* Most of the time goes into naming: symbols are looked up here. */
int
stacks_group_all(struct stacks *stacks)
{
    struct profile *profile = stacks->profile;
    struct naming naming = {.profile = profile,
                            .strings = intern_new(),
                            .stacks = intern_new(),
                            .named = calloc(profile->node_count,
                                            sizeof(*naming.named))};
    struct intern *keys = intern_new();
    int result = naming.strings == NULL || naming.stacks == NULL ||
                         naming.named == NULL || keys == NULL
                     ? -1
                     : name_nodes(&naming, stacks);
    free(stacks->groups);
    free(stacks->order);
    stacks->groups = NULL;
    stacks->order = NULL;
    stacks->group_count = 0;
    for (uint32_t i = 0; i < stacks->thread_count && result == 0; i++)
        if (stacks->threads[i].is_kept)
            result = find_group(&naming, keys, &stacks->threads[i]);
    if (result == 0)
        result = place_groups(stacks, intern_count(keys));
    intern_free(naming.strings);
    intern_free(naming.stacks);
    intern_free(keys);
    free(naming.named);
    if (result != 0)
        errno = ENOMEM;
    return result;
}
