/* SPDX-License-Identifier: MIT */
/*
 * generated.c -- see generated.h. Almost all addresses have one code for the
 * whole run. So each node is checked once whether it or a caller depends on the
 * time, and only samples of such nodes take time.
 */
#include <stdbool.h>
#include <stdlib.h>

#include "model/profile.h"
#include "store/record.h"
#include "symbol/generated_code.h"
#include "util/array.h"
#include "util/intern.h"
#include "join.h"
#include "generated.h"

struct generated {
    struct generated_code *codes; /* those of the process */
    uint32_t version;             /* of what CODES has read */
    bool *depends; /* by node, from the first of the process on: it or a caller
                      has a code that depends on the time */
    uint32_t depends_count;
    struct intern variants; /* struct variant */
    uint32_t *nodes;        /* of the variants, by their numbers */
    uint32_t *path;         /* nodes of one stack, leaf first */
    uint32_t path_size;
};

/* Node OF, but called from PARENT and with CODE. */
struct variant {
    uint32_t of, parent, code;
};

/* The jitdumps of the process. A spool that goes on where another one ends
 * shares them. NULL if memory is short. */
static struct generated_code *
get_codes(struct spool_load *load)
{
    struct profile_process *process = &load->profile->processes[load->process];
    const struct profile_process *before = join_before(load);
    const struct jitdump_process facts = {.pid = process->pid,
                                          .start = process->start,
                                          .monotonic = process->monotonic};
    if (process->codes == NULL && before != NULL && before->codes != NULL)
        process->codes = generated_code_share(before->codes);
    if (process->codes == NULL)
        process->codes = generated_code_new(&facts);
    return process->codes;
}

enum outcome
generated_add(struct spool_load *load, const void *bytes)
{
    const struct record_jitdump *record = bytes;
    const struct profile_process *process =
        &load->profile->processes[load->process];
    /* Such a file has names, and nodes of its own for variants. */
    if (load->is_result)
        return USED;
    if (record->time > INT64_MAX)
        return SENSELESS;
    struct generated_code *codes = get_codes(load);
    if (codes == NULL ||
        generated_code_add(codes, record_jitdump_path(record),
                           process->monotonic + record->time) != 0)
        return FAILED;
    if (load->generated == NULL)
        load->generated = calloc(1, sizeof(*load->generated));
    if (load->generated == NULL)
        return FAILED;
    load->generated->codes = codes;
    return USED;
}

/* Whether the code of NODE itself depends on the time. */
static bool
has_several(const struct spool_load *load, uint32_t node)
{
    const struct profile *profile = load->profile;
    return profile->nodes[node].module == 0 &&
           !profile_is_marker(profile, node) &&
           generated_code_has_several(load->generated->codes,
                                      profile_offset(profile, node));
}

/* Ask for all nodes up to NODE. A caller has a smaller number than its callee.
 * Returns 0, or -1 if memory is short. */
static int
ask_nodes(const struct spool_load *load, uint32_t node)
{
    struct generated *generated = load->generated;
    const struct profile *profile = load->profile;
    uint32_t first = profile->processes[load->process].first_node;
    if (generated->version != generated_code_version(generated->codes))
        generated->depends_count = 0;
    generated->version = generated_code_version(generated->codes);
    for (uint32_t i = first + generated->depends_count; i <= node; i++) {
        uint32_t parent = profile->nodes[i].parent;
        if (!ARRAY_GROW(generated->depends, generated->depends_count))
            return -1;
        generated->depends[generated->depends_count++] =
            (parent != 0 && generated->depends[parent - first]) ||
            has_several(load, i);
    }
    return 0;
}

/* The number for the code of NODE at TIME on CLOCK_MONOTONIC. */
static uint32_t
code_at(const struct spool_load *load, uint32_t node, uint64_t time)
{
    struct generated_code *codes = load->generated->codes;
    uint64_t address = profile_offset(load->profile, node);
    if (!has_several(load, node))
        return GENERATED_CODE_FIRST;
    uint32_t code = generated_code_find(codes, address, time);
    return code == generated_code_find(codes, address, 0) ? GENERATED_CODE_FIRST
                                                          : code;
}

/* The node for VARIANT, which may be new. 0 if memory is short. */
static uint32_t
variant_node(struct spool_load *load, const struct variant *variant)
{
    struct generated *generated = load->generated;
    struct profile *profile = load->profile;
    uint32_t known = intern_count(&generated->variants);
    if (profile->node_count >= UINT32_MAX - 1 ||
        !ARRAY_GROW(profile->nodes, profile->node_count) ||
        !ARRAY_GROW(generated->nodes, known))
        return 0;
    uint32_t number =
        intern_put(&generated->variants, variant, sizeof(*variant));
    if (number == INTERN_NONE)
        return 0;
    if (number == known) {
        struct profile_node node = profile->nodes[variant->of];
        node.parent = variant->parent;
        node.code = variant->code;
        node.symbol = NULL;
        generated->nodes[number] = profile->node_count;
        profile->nodes[profile->node_count++] = node;
        profile->processes[load->process].has_variants = true;
    }
    return generated->nodes[number];
}

/* Fill the path with the nodes of the stack of NODE that depend on the time.
 * Returns their number, 0 if memory is short. */
static uint32_t
find_path(const struct spool_load *load, uint32_t node)
{
    struct generated *generated = load->generated;
    uint32_t first = load->profile->processes[load->process].first_node;
    uint32_t length = 0;
    for (; node != 0 && generated->depends[node - first];
         node = load->profile->nodes[node].parent) {
        if (length == generated->path_size) {
            if (!ARRAY_GROW(generated->path, generated->path_size))
                return 0;
            generated->path_size++;
        }
        generated->path[length++] = node;
    }
    return length;
}

uint32_t
generated_node(struct spool_load *load, uint32_t node, uint64_t time)
{
    struct generated *generated = load->generated;
    const struct profile_process *process =
        &load->profile->processes[load->process];
    if (generated == NULL || node < process->first_node ||
        ask_nodes(load, node) != 0)
        return node;
    uint32_t length = find_path(load, node);
    if (length == 0)
        return node;
    uint64_t moment = process->monotonic + time;
    uint32_t at = load->profile->nodes[generated->path[length - 1]].parent;
    while (length-- > 0) {
        struct variant variant = {.of = generated->path[length], .parent = at};
        variant.code = code_at(load, variant.of, moment);
        bool is_same = variant.code == GENERATED_CODE_FIRST &&
                       load->profile->nodes[variant.of].parent == at;
        at = is_same ? variant.of : variant_node(load, &variant);
        if (at == 0)
            return node;
    }
    return at;
}

void
generated_release(struct generated *generated)
{
    if (generated == NULL)
        return;
    intern_clear(&generated->variants);
    free(generated->depends);
    free(generated->nodes);
    free(generated->path);
    free(generated);
}
