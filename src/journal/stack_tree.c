/* SPDX-License-Identifier: MIT */
/*
 * stack_tree.c -- see stack_tree.h.
 *
 * The hard thing is that the program has used the caches since the last
 * harvest. A search in the table of nodes waits for memory. So a node's place
 * is a hash of its whole stack, and not of its parent's number: the places of
 * all frames are known, and fetched, before the first one is read.
 */
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/sys.h"
#include "store/layout.h"
#include "store/writer.h"
#include "unwind/interpreter.h"
#include "unwind/own_frames.h"
#include "unwind/rules.h"
#include "id_table.h"
#include "journal.h"
#include "stack_memo.h"
#include "stack_tree.h"

/* Limit of module ids. A module with a higher id is written again each time. */
#define MODULES_MAX 65536u

/* Two stacks under one parent are distinguished by 64 bits of hash. */
static struct id_table nodes = {.first_size = 1u << 12, .most = 1u << 31};
static uint8_t *module_written; /* by module id */
static uint32_t generation;     /* of the file that has all this */
static bool has_bare;           /* it has nodes in no module */
static uint32_t nodes_stamp;    /* changes when nodes are forgotten */

/* Forget all numbers if the journal has begun another file, which has none.
 * Returns false if memory is short. */
static bool
is_begun(void)
{
    if (generation == journal_generation())
        return true;
    nodes_stamp++;
    has_bare = false;
    module_written = sys_renew(module_written, MODULES_MAX);
    if (module_written == NULL || id_table_begin(&nodes) != 0)
        return false;
    generation = journal_generation();
    return true;
}

/* MODULE has no build-id. Write the size and time of its file, if the file at
 * its path is still the mapped one. */
static void
write_file(const struct module *module)
{
    struct stat status;
    if (sys_stat(module->path, &status) != 0 || status.st_ino != module->inode)
        return;
    struct record_file record = {.module = module->id,
                                 .size = (uint64_t)status.st_size,
                                 .modified = (uint64_t)status.st_mtim.tv_sec *
                                                 NS_PER_SECOND +
                                             (uint64_t)status.st_mtim.tv_nsec};
    journal_append(RECORD_FILE, &record, sizeof(record), NULL, 0);
}

static void
write_module(const struct module *module)
{
    struct record_module record = {.id = module->id,
                                   .generation = module->id,
                                   .base = module->base,
                                   .start = module->start,
                                   .end = module->end,
                                   .time = journal_time(clock_now()),
                                   .build_id_length = module->build_id_length,
                                   .path_length =
                                       (uint16_t)(strlen(module->path) + 1),
                                   .flags =
                                       (module->is_vdso ? MODULE_VDSO : 0u) |
                                       (module->deleted ? MODULE_DELETED : 0u)};
    const struct writer_tail tail[] = {{module->build_id,
                                        module->build_id_length},
                                       {module->path, record.path_length}};
    journal_append(RECORD_MODULE, &record, sizeof(record), tail, 2);
    if (module->build_id_length == 0 && !module->is_vdso && !module->deleted)
        write_file(module);
    if (module->id < MODULES_MAX)
        module_written[module->id] = 1;
}

/* A node keeps the module that its frame had when it was written. */
static void
forget_stacks(void)
{
    id_table_forget(&nodes);
    nodes_stamp++;
    has_bare = false;
}

bool
stack_tree_has_bare(void)
{
    return has_bare && generation == journal_generation();
}

void
stack_tree_module_came(void)
{
    if (has_bare)
        forget_stacks();
}

void
stack_tree_module_gone(const struct module *module)
{
    struct record_module_end record = {.id = module->id,
                                       .time = journal_time(clock_now())};
    if (!is_begun() ||
        (module->id < MODULES_MAX && !module_written[module->id]))
        return;
    forget_stacks();
    journal_append(RECORD_MODULE_END, &record, sizeof(record), NULL, 0);
}

/* Write node ID, which is FRAME under PARENT. */
static bool
write_node(uint32_t id, uint32_t parent, struct frame frame)
{
    struct record_node record = {.id = id, .parent = parent};
    uint64_t lookup = frame_lookup(frame);
    const struct module *module = modules_find(lookup);
    enum frame_kind kind = frame_kind(frame);
    if (kind == FRAME_ELIDED) {
        record.flags = NODE_ELIDED;
    } else if (kind == FRAME_GUESSED) {
        record.flags = NODE_GUESSED;
    } else if (kind == FRAME_SCRIPT) {
        record.flags = NODE_SCRIPT;
        if ((frame.word & FRAME_UNPLACED_BIT) != 0)
            record.flags |= NODE_UNPLACED;
        record.module = frame_script_number(frame);
        record.offset = (uint64_t)(int64_t)frame_script_instruction(frame);
    } else if (kind == FRAME_CUT) {
        record.flags = NODE_TRUNCATED;
        record.offset = (uint64_t)frame_cause(frame);
    } else {
        record.flags = kind == FRAME_RETURN ? NODE_RETURN : 0;
        record.offset = frame_pc(frame) - (module != NULL ? module->base : 0);
        record.module = module != NULL ? module->id : 0;
        has_bare |= module == NULL;
        if (module != NULL &&
            (module->id >= MODULES_MAX || !module_written[module->id]))
            write_module(module);
    }
    return journal_append(RECORD_NODE, &record, sizeof(record), NULL, 0) != 0;
}

/* Limit of the frames whose places in the table are fetched at a time. */
#define STEPS_MOST 32u

/* A walk on its way into the tree, from the root to the leaf. */
struct descent {
    struct stack_memo memo;
    uint32_t node;
    uint64_t hash; /* of all frames so far */
    const struct script *script;
    uint32_t
        left; /* number of frames, from the leaf on, that are not in the tree */
    /* Frames under the node that are to be looked for. */
    struct step {
        uint64_t hash; /* of all frames up to this one */
        struct frame frame;
        bool is_new; /* the node has just been written */
    } steps[STEPS_MOST];
    uint32_t step_count;
};

/* Make the node of STEP's frame the current one. It is written if it is new. */
static bool
take_step(struct descent *descent, struct step *step)
{
    uint32_t id = id_table_of(&nodes, descent->node, step->hash, &step->is_new);
    if (id == 0 ||
        (step->is_new && !write_node(id, descent->node, step->frame)))
        return false;
    stack_memo_note(&descent->memo, step->frame, id);
    descent->node = id;
    return true;
}

/* Leave in PCS those of COUNT that have no rule of their own. Returns their
 * number. */
static uint32_t
leave_unknown(uint64_t *pcs, uint32_t count)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < count; i++)
        rules_fetch_exact(pcs[i]);
    for (uint32_t i = 0; i < count; i++)
        if (!rules_has_exact(pcs[i]))
            pcs[left++] = pcs[i];
    return left;
}

/* Give each frame that is new in the tree a rule of its own: the next walk
 * finds it by one probe. The data for all of them is fetched first, step by
 * step. */
static void
give_rules(const struct descent *descent)
{
    uint64_t pcs[STEPS_MOST];
    uint32_t count = 0;
    for (uint32_t i = 0; i < descent->step_count; i++) {
        const struct step *step = &descent->steps[i];
        enum frame_kind kind = frame_kind(step->frame);
        if (step->is_new && (kind == FRAME_EXACT || kind == FRAME_RETURN))
            pcs[count++] = frame_lookup(step->frame);
    }
    count = leave_unknown(pcs, count);
    for (uint32_t i = 0; i < count; i++)
        rules_fetch(pcs[i]);
    for (uint32_t i = 0; i < count; i++)
        rules_fetch_more(pcs[i]);
    for (uint32_t i = 0; i < count; i++)
        rules_fetch_rest(pcs[i]);
    for (uint32_t i = 0; i < count; i++) {
        struct rule rule = rules_find(pcs[i]);
        if (rule_kind(rule) != RULE_NONE)
            rules_put(pcs[i], rule);
    }
}

static bool
take_steps(struct descent *descent)
{
    uint32_t taken = 0;
    while (taken < descent->step_count &&
           take_step(descent, &descent->steps[taken]))
        taken++;
    bool is_done = taken == descent->step_count;
    descent->step_count = taken;
    give_rules(descent);
    descent->step_count = 0;
    return is_done;
}

/* Enter FRAME. Other programs have used the caches since the last harvest. The
 * places of several frames are fetched before the first one is read. */
static bool
descend(struct descent *descent, struct frame frame)
{
    uint64_t mix = (descent->hash ^ frame.word) * 0x9e3779b97f4a7c15u;
    descent->hash = mix ^ mix >> 32;
    uint32_t id = stack_memo_next(&descent->memo, frame);
    if (id != 0) {
        descent->node = id;
        return true;
    }
    id_table_fetch(&nodes, descent->hash);
    descent->steps[descent->step_count++] =
        (struct step){descent->hash, frame, false};
    return descent->step_count < STEPS_MOST || take_steps(descent);
}

/* Enter the frames of the interpreter that are nearer to the root than native
 * frame number DEPTH. Those without a place are nearer than all. */
static bool
descend_script(struct descent *descent, uint32_t depth)
{
    for (; descent->left > 0; descent->left--) {
        const struct script_frame *at =
            &descent->script->frames[descent->left - 1];
        if (at->depth != 0 && at->depth < depth)
            return true;
        struct frame frame = frame_script(at->number, at->instruction);
        if (at->depth == 0)
            frame.word |= FRAME_UNPLACED_BIT;
        if (!descend(descent, frame))
            return false;
    }
    return true;
}

/* Enter the frames of WALK, COUNT that were kept. ELIDED more were left out in
 * front of number GAP. Frames that were cut off beyond the root are shown by a
 * frame of its own, and so is the gap. */
static bool
descend_walk(struct descent *descent, const struct walk *walk, uint32_t count,
             uint32_t gap, uint32_t elided)
{
    const struct frame *frames = walk->frames;
    if (walk->cut != CUT_NONE && !descend(descent, frame_cut(walk->cut)))
        return false;
    uint32_t first = own_frames_skip(frames, count);
    for (uint32_t i = count; i-- > first;) {
        if (!descend_script(descent, i + 1 + (i >= gap ? elided : 0)))
            return false;
        if (elided != 0 && i + 1 == gap && !descend(descent, frame_elided()))
            return false;
        if (!own_frames_has(frame_pc(frames[i])) &&
            !descend(descent, frames[i]))
            return false;
    }
    return true;
}

/* Goes from the root to the leaf, because a node needs its caller's id, and
 * leaves out our own frames. */
uint32_t
stack_tree_enter(struct walk *walk, uint32_t index)
{
    uint32_t gap, elided, count = walk_finish(walk, &gap, &elided);
    if (journal_error() != 0 || !is_begun())
        return 0;
    struct descent descent = {.memo = stack_memo_begin(index, nodes_stamp),
                              .script = walk->script};
    if (walk->script != NULL) {
        interpreter_place(walk->script, walk->frames, count, gap, elided,
                          walk->cut == CUT_NONE);
        descent.left = walk->script->count;
    }
    if (!descend_walk(&descent, walk, count, gap, elided) ||
        !take_steps(&descent))
        return 0;
    /* A stack of our own frames alone shows nothing of the program. */
    if (descent.node == 0 &&
        (!descend(&descent, frame_cut(CUT_NOT_CODE)) || !take_steps(&descent)))
        return 0;
    return descent.node;
}
