/* SPDX-License-Identifier: MIT */
/*
 * wait_memo.c -- see wait_memo.h. A table of ENTRIES, in which a place takes
 * that of an older one. The return addresses are found in the copy by their
 * values, each above the one before.
 */
#include <stddef.h>

#include "base/sys.h"
#include "capture/waiting.h"
#include "journal/stack_tree.h"
#include "wait_memo.h"

#define ENTRIES 256u

/* Return addresses of a stack that are compared, at most. */
#define RETURNS 64u

struct entry {
    uint32_t index, generation, stamp; /* of the thread, and of the nodes */
    uint64_t pc, sp;                   /* where it stood; pc 0: empty */
    uint64_t note_pc, note_sp, note_link;
    uint32_t count;
    uint16_t words[RETURNS]; /* where in the copy */
    uint64_t returns[RETURNS];
    struct journal_place place;
};

static struct entry *entries;

int
wait_memo_begin(void)
{
    entries = sys_renew(entries, ENTRIES * sizeof(*entries));
    return entries != NULL ? 0 : -1;
}

void
wait_memo_read(uint32_t index, struct wait_memo *memo)
{
    memo->count = 0;
    if (!waiting_read(index, &memo->at))
        return;
    size_t size = sys_present(memo->at.sp, sizeof(memo->words));
    long got = sys_read_memory(memo->words, memo->at.sp, size);
    memo->count = got > 0 ? (uint32_t)got / sizeof(memo->words[0]) : 0;
}

static struct entry *
entry_of(uint32_t index, const struct regs *at)
{
    uint64_t hash =
        (at->pc ^ at->sp * 31 ^ index * 0x9e3779b9ull) * 6364136223846793005u;
    return &entries[(hash >> 40) % ENTRIES];
}

/* Whether AT is in the function that MEMO's note is of. */
static bool
is_of(const struct wait_memo *memo, const struct regs *at)
{
    return memo->count != 0 && at->pc != 0 &&
           memo->at.sp - at->sp < WAITING_FRAMES;
}

static uint64_t
return_of(const struct walk *walk, uint32_t i)
{
    return walk->frames[i].word & ~FRAME_RETURN_BIT;
}

/* Note where the return addresses of WALK are in MEMO's copy, from that of the
 * function with the note on. Returns whether all of them are there. */
static bool
note_returns(struct entry *entry, const struct wait_memo *memo,
             const struct walk *walk)
{
    uint64_t caller =
        ARCH_HAS_LINK ? arch_link(&memo->at) : arch_code(memo->words[0]);
    uint32_t at = 0, kept = walk_kept(walk), i = 1;
    while (i < kept && return_of(walk, i) != caller)
        i++;
    if (walk->cut != CUT_NONE || walk->depth > kept || i >= kept)
        return false;
    for (i += ARCH_HAS_LINK; i < kept; i++) {
        while (at < memo->count &&
               arch_code(memo->words[at]) != return_of(walk, i))
            at++;
        if (at == memo->count || entry->count == RETURNS)
            return false;
        entry->words[entry->count] = (uint16_t)at;
        entry->returns[entry->count++] = memo->words[at++];
    }
    return true;
}

void
wait_memo_put(uint32_t index, const struct wait_memo *memo,
              const struct regs *at, const struct walk *walk,
              const struct journal_place *place)
{
    struct entry entry = {.index = index,
                          .generation = journal_generation(),
                          .stamp = stack_tree_stamp(),
                          .pc = at->pc,
                          .sp = at->sp,
                          .note_pc = memo->at.pc,
                          .note_sp = memo->at.sp,
                          .note_link = arch_link(&memo->at),
                          .place = *place};
    if (!is_of(memo, at))
        return;
    bool is_known = walk->script == NULL && place->node != 0 &&
                    note_returns(&entry, memo, walk);
    *entry_of(index, at) = is_known ? entry : (struct entry){.pc = 0};
}

bool
wait_memo_find(uint32_t index, const struct wait_memo *memo,
               const struct regs *at, struct journal_place *place)
{
    if (!is_of(memo, at))
        return false;
    const struct entry *entry = entry_of(index, at);
    if (entry->pc != at->pc || entry->sp != at->sp || entry->index != index ||
        entry->note_pc != memo->at.pc || entry->note_sp != memo->at.sp ||
        entry->note_link != arch_link(&memo->at) ||
        entry->generation != journal_generation() ||
        entry->stamp != stack_tree_stamp() || entry->place.set != place->set ||
        entry->place.label != place->label)
        return false;
    for (uint32_t i = 0; i < entry->count; i++)
        if (entry->words[i] >= memo->count ||
            memo->words[entry->words[i]] != entry->returns[i])
            return false;
    *place = entry->place;
    return true;
}
