/* SPDX-License-Identifier: MIT */
/*
 * rules.c -- the rule table; see rules.h. rules_find runs in the handler on any
 * thread while the sampler writes. A cell's key is cleared before its rule
 * changes, and set after that. The reader reads the key again after it has read
 * the rule. Nothing here allocates after rules_begin.
 */
#include <stdatomic.h>
#include <stddef.h>

#include "base/hot.h"
#include "base/sys.h"
#include "row_table.h"
#include "rules.h"
#include "base/poison.h"

/* Number and sizes of the tables. The table begins small, so that the rules of
 * a small program lie close together. A page that is touched for the first time
 * costs as much as learning a rule, and the handler's look-ups stay within the
 * nearest caches. When a table is full, the next size replaces it. The largest
 * one is emptied instead: rules in use are soon put again. */
#define SIZES 4
#define FIRST_BITS 12
#define SIZE_STEP 2                 /* bits more in each size */
#define FULL(size) ((size) / 8 * 5) /* so that probes stay short */

/* A key ends in its level, so that the keys of different blocks differ. A key
 * of 0 ends a probe. FORGOTTEN does not. */
#define LEVELS 3
#define FORGOTTEN 1u
static const unsigned level_bits[LEVELS] = {4, 7, 10};
#define EXACT_BIT (1ull << 63)
#define ROW_REACH 8192

struct cell {
    _Atomic uint64_t key, rule;
};
_Static_assert(sizeof(struct cell) == 16, "four cells a cache line");

/* One piece of memory holds all sizes, one after the other. Readers take the
 * table from CURRENT, once for each look-up. A table that has just been
 * replaced stays as it was, and is not used again before rules_begin. */
struct table {
    struct cell *cells;
    uint32_t mask, full;
};
static HOT_STATE struct table tables[SIZES];
static HOT_STATE _Atomic uint32_t current;
static uint32_t used; /* cells in use, and forgotten ones */
static uint32_t nowhere_count;
static _Atomic uint64_t put_count;

static int
reserve_tables(void)
{
    uint32_t count = 0;
    for (unsigned i = 0; i < SIZES; i++) {
        uint32_t size = 1u << (FIRST_BITS + i * SIZE_STEP);
        tables[i].mask = size - 1;
        tables[i].full = FULL(size);
        count += size;
    }
    struct cell *cells = sys_reserve_for_one(count * sizeof(*cells));
    for (unsigned i = 0; cells != NULL && i < SIZES; i++) {
        tables[i].cells = cells;
        cells += tables[i].mask + 1;
    }
    return cells != NULL ? 0 : -1;
}

static void
empty_table(const struct table *table)
{
    for (uint32_t i = 0; i <= table->mask; i++)
        atomic_store_explicit(&table->cells[i].key, 0, memory_order_relaxed);
}

/* Bring all of TABLE into memory: each of its pages is read, and soon
 * written. */
static void
populate_table(const struct table *table)
{
    sys_populate(table->cells, (table->mask + 1) * sizeof(struct cell));
}

int
rules_begin(void)
{
    if (tables[0].cells == NULL && reserve_tables() != 0)
        return -1;
    /* Memory that was never used is empty, and is not touched. The rest is
     * given back: in a child, a write would copy it from its parent. */
    for (uint32_t i = 0; used != 0 && i <= atomic_load(&current); i++)
        (void)sys_renew(tables[i].cells,
                        (tables[i].mask + 1) * sizeof(struct cell));
    atomic_store(&current, 0);
    used = 0;
    populate_table(&tables[0]);
    row_table_begin();
    return 0;
}

static inline const struct table *
current_table(void)
{
    return &tables[atomic_load_explicit(&current, memory_order_acquire)];
}

static inline uint32_t
hash(uint64_t key)
{
    return (uint32_t)((key * 0x9e3779b97f4a7c15u) >> 40);
}

static inline uint64_t
block_key(uint64_t pc, unsigned level)
{
    return pc >> level_bits[level] << level_bits[level] | (level + 2);
}

static inline struct rule
find_key(const struct table *table, uint64_t key)
{
    for (uint32_t i = hash(key);; i++) {
        struct cell *cell = &table->cells[i & table->mask];
        uint64_t seen = atomic_load_explicit(&cell->key, memory_order_acquire);
        if (seen == 0)
            return rule_make(RULE_NONE);
        if (seen != key)
            continue;
        uint64_t word = atomic_load_explicit(&cell->rule, memory_order_acquire);
        /* The writer may have given the cell another key between the two loads.
         */
        if (atomic_load_explicit(&cell->key, memory_order_relaxed) == key)
            return (struct rule){word};
    }
}

HOT void
rules_fetch_exact(uint64_t pc)
{
    const struct table *table = current_table();
    if (table->cells != NULL)
        __builtin_prefetch(&table->cells[hash(pc | EXACT_BIT) & table->mask]);
}

HOT void
rules_fetch(uint64_t pc)
{
    rules_fetch_exact(pc);
    row_table_fetch(pc);
}

HOT void
rules_fetch_more(uint64_t pc)
{
    row_table_fetch_entry(pc);
}

HOT void
rules_fetch_rest(uint64_t pc)
{
    row_table_fetch_rule(pc);
}

HOT struct rule
rules_find(uint64_t pc)
{
    const struct table *table = current_table();
    struct rule rule = find_key(table, pc | EXACT_BIT);
    if (rule.word == RULE_NONE)
        rule = row_table_find(pc);
    for (unsigned level = 0; rule.word == RULE_NONE && level < LEVELS; level++)
        rule = find_key(table, block_key(pc, level));
    return rule;
}

bool
rules_has_exact(uint64_t pc)
{
    return find_key(current_table(), pc | EXACT_BIT).word != RULE_NONE;
}

/* The cell of TABLE that holds KEY, or the empty cell where KEY belongs. */
static struct cell *
find_cell(const struct table *table, uint64_t key)
{
    for (uint32_t i = hash(key);; i++) {
        struct cell *cell = &table->cells[i & table->mask];
        uint64_t seen = atomic_load_explicit(&cell->key, memory_order_relaxed);
        if (seen == 0 || seen == key)
            return cell;
    }
}

/* Let KEY have the rule WORD in TABLE. Returns whether it took an empty cell.
 */
static bool
write_cell(const struct table *table, uint64_t key, uint64_t word)
{
    struct cell *cell = find_cell(table, key);
    bool is_new = atomic_load_explicit(&cell->key, memory_order_relaxed) == 0;
    if (!is_new)
        atomic_store_explicit(&cell->key, FORGOTTEN, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&cell->rule, word, memory_order_relaxed);
    atomic_store_explicit(&cell->key, key, memory_order_release);
    return is_new;
}

/* Copy all rules that are not forgotten to the next size, then let readers use
 * it. */
static void
grow_table(uint32_t from)
{
    const struct table *old = &tables[from];
    used = 0;
    populate_table(&tables[from + 1]);
    for (uint32_t i = 0; i <= old->mask; i++) {
        uint64_t key =
            atomic_load_explicit(&old->cells[i].key, memory_order_relaxed);
        if (key > FORGOTTEN)
            used += write_cell(&tables[from + 1], key, old->cells[i].rule);
    }
    atomic_store_explicit(&current, from + 1, memory_order_release);
}

/* Make room for one rule in the current table. */
static void
make_room(void)
{
    uint32_t size = atomic_load_explicit(&current, memory_order_relaxed);
    if (used < tables[size].full)
        return;
    if (size + 1 < SIZES) {
        grow_table(size);
    } else {
        empty_table(&tables[size]);
        used = 0;
    }
}

static void
put_key(uint64_t key, struct rule rule)
{
    make_room();
    used += write_cell(current_table(), key, rule.word);
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
    row_table_forget(start, end);
    /* An empty table is not searched: that would touch all of it. */
    if (used == 0)
        return;
    const struct table *table = current_table();
    for (uint32_t i = 0; i <= table->mask; i++) {
        struct cell *cell = &table->cells[i];
        uint64_t key = atomic_load_explicit(&cell->key, memory_order_relaxed);
        uint64_t pc = key & ~EXACT_BIT;
        if (key > FORGOTTEN && pc + 1024 > start && pc < end)
            atomic_store_explicit(&cell->key, FORGOTTEN, memory_order_release);
    }
}

void
rules_drop(uint64_t pc)
{
    struct cell *cell = find_cell(current_table(), pc | EXACT_BIT);
    if (atomic_load_explicit(&cell->key, memory_order_relaxed) != 0)
        atomic_store_explicit(&cell->key, FORGOTTEN, memory_order_release);
}

void
rules_forget_nowhere(void)
{
    const struct table *table = current_table();
    for (uint32_t i = 0; nowhere_count != 0 && i <= table->mask; i++) {
        struct cell *cell = &table->cells[i];
        uint64_t word = atomic_load_explicit(&cell->rule, memory_order_relaxed);
        if (word == RULE_NOWHERE && cell->key > FORGOTTEN)
            atomic_store_explicit(&cell->key, FORGOTTEN, memory_order_release);
    }
    nowhere_count = 0;
}

uint64_t
rules_count(void)
{
    return atomic_load_explicit(&put_count, memory_order_relaxed);
}
