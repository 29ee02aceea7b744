/* SPDX-License-Identifier: MIT */
/*
 * rules.c -- the rule table; see rules.h. rules_find runs in the handler on any
 * thread while the sampler writes: a cell's key is cleared before its rule
 * changes and set after, and the reader looks at the key again after reading
 * the rule. Nothing here allocates after rules_begin.
 */
#include <stdatomic.h>
#include <stddef.h>

#include "base/sys.h"
#include "rules.h"
#include "poison.h"

#define CELLS (1u << 17)
#define MASK (CELLS - 1)
/* Fuller than this, the table is emptied: what is in use is soon back. */
#define FULL (CELLS / 4 * 3)

/* Keys end in their level, so that a block's key is no other block's. A key of
 * 0 ends a probe; FORGOTTEN does not. */
#define LEVELS 3
#define FORGOTTEN 1u
static const unsigned level_bits[LEVELS] = {4, 7, 10};
#define EXACT_BIT (1ull << 63)
#define ROW_REACH 8192

struct cell {
    _Atomic uint64_t key, rule;
};
_Static_assert(sizeof(struct cell) == 16, "four cells a cache line");

static struct cell *cells;
static uint32_t used;
static uint32_t nowhere_count;
static _Atomic uint64_t put_count;

int
rules_begin(void)
{
    if (cells == NULL)
        cells = sys_reserve(CELLS * sizeof(*cells));
    if (cells == NULL)
        return -1;
    for (uint32_t i = 0; used != 0 && i < CELLS; i++)
        atomic_store_explicit(&cells[i].key, 0, memory_order_relaxed);
    used = 0;
    return 0;
}

static inline uint32_t
hash(uint64_t key)
{
    return (uint32_t)((key * 0x9e3779b97f4a7c15u) >> 40) & MASK;
}

static inline uint64_t
block_key(uint64_t pc, unsigned level)
{
    return pc >> level_bits[level] << level_bits[level] | (level + 2);
}

static inline struct rule
find_key(uint64_t key)
{
    for (uint32_t i = hash(key);; i = (i + 1) & MASK) {
        uint64_t seen =
            atomic_load_explicit(&cells[i].key, memory_order_acquire);
        if (seen == 0)
            return rule_make(RULE_NONE);
        if (seen != key)
            continue;
        uint64_t word =
            atomic_load_explicit(&cells[i].rule, memory_order_acquire);
        /* The writer may have given the cell away between the two loads. */
        if (atomic_load_explicit(&cells[i].key, memory_order_relaxed) == key)
            return (struct rule){word};
    }
}

struct rule
rules_find(uint64_t pc)
{
    struct rule rule = find_key(pc | EXACT_BIT);
    for (unsigned level = 0; rule.word == RULE_NONE && level < LEVELS; level++)
        rule = find_key(block_key(pc, level));
    return rule;
}

bool
rules_has_exact(uint64_t pc)
{
    return find_key(pc | EXACT_BIT).word != RULE_NONE;
}

static void
empty_table(void)
{
    for (uint32_t i = 0; i < CELLS; i++)
        atomic_store_explicit(&cells[i].key, 0, memory_order_relaxed);
    used = 0;
}

static void
put_key(uint64_t key, struct rule rule)
{
    if (used >= FULL)
        empty_table();
    uint32_t i = hash(key);
    uint64_t seen;
    while ((seen = atomic_load_explicit(&cells[i].key, memory_order_relaxed)) !=
               0 &&
           seen != key)
        i = (i + 1) & MASK;
    if (seen == 0)
        used++;
    else
        atomic_store_explicit(&cells[i].key, FORGOTTEN, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&cells[i].rule, rule.word, memory_order_relaxed);
    atomic_store_explicit(&cells[i].key, key, memory_order_release);
    atomic_fetch_add_explicit(&put_count, 1, memory_order_relaxed);
}

void
rules_put(uint64_t pc, struct rule rule)
{
    put_key(pc | EXACT_BIT, rule);
    nowhere_count += rule_kind(rule) == RULE_NOWHERE;
}

/* The largest level whose block at AT fits before END; -1 if none does. */
static int
fitting_level(uint64_t at, uint64_t end)
{
    for (int level = LEVELS - 1; level >= 0; level--) {
        uint64_t size = 1ull << level_bits[level];
        if ((at & (size - 1)) == 0 && end - at >= size)
            return level;
    }
    return -1;
}

void
rules_put_row(uint64_t pc, uint64_t start, uint64_t end, struct rule rule)
{
    if (pc - start > ROW_REACH)
        start = pc - ROW_REACH;
    if (end - pc > ROW_REACH)
        end = pc + ROW_REACH;
    uint64_t at = (start + 15) & ~15ull;
    while (at < end) {
        int level = fitting_level(at, end);
        if (level < 0)
            break;
        put_key(block_key(at, (unsigned)level), rule);
        at += 1ull << level_bits[level];
    }
}

void
rules_forget(uint64_t start, uint64_t end)
{
    /* An empty table is not even looked through: that would touch it all. */
    if (used == 0)
        return;
    for (uint32_t i = 0; i < CELLS; i++) {
        uint64_t key =
            atomic_load_explicit(&cells[i].key, memory_order_relaxed);
        uint64_t pc = key & ~EXACT_BIT;
        if (key != FORGOTTEN && pc + 1024 > start && pc < end)
            atomic_store_explicit(&cells[i].key, FORGOTTEN,
                                  memory_order_release);
    }
}

void
rules_forget_nowhere(void)
{
    for (uint32_t i = 0; nowhere_count != 0 && i < CELLS; i++) {
        uint64_t word =
            atomic_load_explicit(&cells[i].rule, memory_order_relaxed);
        if (word == RULE_NOWHERE && cells[i].key > FORGOTTEN)
            atomic_store_explicit(&cells[i].key, FORGOTTEN,
                                  memory_order_release);
    }
    nowhere_count = 0;
}

uint64_t
rules_count(void)
{
    return atomic_load_explicit(&put_count, memory_order_relaxed);
}
