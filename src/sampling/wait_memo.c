/* SPDX-License-Identifier: MIT */
/*
 * wait_memo.c -- see wait_memo.h. A table of ENTRIES, in which a place takes
 * that of an older one. The return addresses are found in the copy by their
 * values, each above the one before.
 */
#include <stddef.h>

#include "base/sys.h"
#include "capture/waiting.h"
#include "wait_memo.h"

#define ENTRIES 256u

/* Return addresses that are compared, at most; and those that a copy must have
 * to tell a place. */
#define RETURNS 16u
#define RETURNS_LEAST 2u

struct entry {
    uint32_t index, generation; /* of the thread, of the journal */
    uint64_t pc, sp;            /* where it stood; pc 0: empty */
    uint64_t note_pc, note_sp;
    uint32_t count;
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
    long got = sys_read_memory(memo->words, memo->at.sp, sizeof(memo->words));
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

/* Whether return address PC is in MEMO's copy, at word *AT or above it. *AT
 * becomes the word after it. */
static bool
has_return(const struct wait_memo *memo, uint64_t pc, uint32_t *at)
{
    for (uint32_t i = *at; i < memo->count; i++)
        if (arch_code(memo->words[i]) == pc) {
            *at = i + 1;
            return true;
        }
    return false;
}

void
wait_memo_put(uint32_t index, const struct wait_memo *memo,
              const struct regs *at, const struct walk *walk,
              const struct journal_place *place)
{
    struct entry entry = {.index = index,
                          .generation = journal_generation(),
                          .pc = at->pc,
                          .sp = at->sp,
                          .note_pc = memo->at.pc,
                          .note_sp = memo->at.sp,
                          .place = *place};
    uint32_t from = 0;
    if (!is_of(memo, at) || walk->script != NULL || place->node == 0)
        return;
    for (uint32_t i = 1; i < walk_kept(walk) && entry.count < RETURNS; i++) {
        uint64_t pc = walk->frames[i].word & ~FRAME_RETURN_BIT;
        if (has_return(memo, pc, &from))
            entry.returns[entry.count++] = pc;
    }
    if (entry.count >= RETURNS_LEAST)
        *entry_of(index, at) = entry;
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
        entry->generation != journal_generation() ||
        entry->place.set != place->set || entry->place.label != place->label)
        return false;
    uint32_t from = 0;
    for (uint32_t i = 0; i < entry->count; i++)
        if (!has_return(memo, entry->returns[i], &from))
            return false;
    *place = entry->place;
    return true;
}
