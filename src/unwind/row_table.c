/* SPDX-License-Identifier: MIT */
/*
 * row_table.c -- see row_table.h.
 *
 * The hard thing is to empty full memory while handlers read. A generation is
 * counted up before and after. A reader that sees another generation at its end
 * has found no rule.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/arch.h"
#include "base/clock.h"
#include "base/hot.h"
#include "base/sys.h"
#include "process/modules.h"
#include "cfi.h"
#include "row_table.h"
#include "base/poison.h"

/* A piece has 2^PIECE_BITS bytes of code: a page, which no two modules share.
 * An area has AREA_PIECES pieces. */
#define PIECE_BITS 12
#define PIECE_SIZE (1ull << PIECE_BITS)
#define AREA_PIECES 16u

/* A region has 2^REGION_BITS pieces: 1 MiB of code. Its pieces are looked up by
 * number, and regions by a hash. */
#define REGION_BITS 8
#define REGION_PIECES (1u << REGION_BITS)

/* Limits: of the regions, a power of two, half of which may be used; of the
 * pieces; of the entries of all pieces, which take 4 bytes each; and of the
 * different rules. */
#define REGIONS_BITS 11
#define REGIONS (1u << REGIONS_BITS)
#define PIECES_MAX 32768u
#define ENTRIES_MAX (2u << 20)
#define RULES_MAX 16384u

/* Limit of the entries of one piece: more than one for each byte make no
 * sense. */
#define PIECE_ENTRIES 4096u

/* Number of areas that wait to be compiled; a new one replaces the oldest. */
#define WANTED 64u

/* Compiling ahead may take 1 / AHEAD_SHARE of the time, and AHEAD_NS at a time.
 * In the first YOUNG_NS it may take 1 / YOUNG_SHARE: most processes end before
 * it is worth its cost. */
#define AHEAD_SHARE 50u
#define AHEAD_NS 1000000u
#define YOUNG_SHARE 200u
#define YOUNG_NS (1ull * NS_PER_SECOND)

/* If 1 / WHOLE_PART of a segment's areas are compiled, all of it is compiled
 * ahead: walks miss everywhere in it. */
#define WHOLE_PART 4u

/* Bytes of the smallest function whose rows are taken. A signal restorer has 9,
 * and its table may not show that it is one. */
#define FUNCTION_LEAST 17u

/* By a hash of its number, a region; its number + 1, or 0: none. */
static HOT_STATE _Atomic uint64_t *regions;

/* The pieces of each region: first entry << 16 | number of entries. 0: the
 * piece is not compiled. */
static HOT_STATE _Atomic uint64_t (*pieces)[REGION_PIECES];
static HOT_STATE uint32_t
    *entries; /* offset in the piece << 16 | rule's number */
static HOT_STATE struct rule *rules; /* by number; 0: none */
static HOT_STATE uint16_t
    *ids; /* the numbers of rules, by a hash of the word */
static uint32_t used_regions, used_pieces, used_entries, used_rules;
static HOT_STATE _Atomic uint32_t generation;

/* The numbers of rules that were asked for last. Rows have few different rules,
 * and IDS is large for the nearest cache. */
#define RECENT_BITS 8
#define RECENT (1u << RECENT_BITS)
static struct recent {
    uint64_t word;
    uint32_t number;
} * recent;

/* The areas in which walks have missed rules: where the next piece of each
 * begins. They are compiled in turn from FIRST_WANTED on. */
static uint64_t wanted[WANTED];
static uint32_t first_wanted, last_wanted;
static uint64_t ahead_at; /* when an area was last compiled */
static uint64_t begun_at; /* when row_table_begin was called */

/* Where a walk has missed last. It is in a segment, while an area may begin
 * before its segment and end after it. */
static uint64_t missed;

/* The segment that is compiled as a whole, from its next piece on. */
static uint64_t whole_at, whole_end;
static bool is_refused; /* memory was short */

/* Whether all memory is reserved. */
static bool
is_there(void)
{
    return regions != NULL && pieces != NULL && entries != NULL &&
           rules != NULL && ids != NULL;
}

/* Empty all memory, or reserve it. Pages that are read before they are written
 * are made present at once. */
static bool
reserve_all(void)
{
    regions = sys_renew((void *)regions, REGIONS * sizeof(*regions));
    pieces = sys_renew((void *)pieces, REGIONS * sizeof(*pieces));
    entries = sys_renew(entries, ENTRIES_MAX * sizeof(*entries));
    rules = sys_renew(rules, RULES_MAX * sizeof(*rules));
    ids = sys_renew(ids, 2 * RULES_MAX * sizeof(*ids));
    recent = sys_renew(recent, RECENT * sizeof(*recent));
    if (!is_there() || recent == NULL)
        return false;
    sys_populate((void *)regions, REGIONS * sizeof(*regions));
    sys_populate(ids, 2 * RULES_MAX * sizeof(*ids));
    rules[0] = rule_make(RULE_NONE);
    return true;
}

static void
begin_anew(void)
{
    atomic_fetch_add(&generation, 1);
    is_refused = !reserve_all();
    used_regions = used_pieces = used_entries = used_rules = 0;
    atomic_fetch_add(&generation, 1);
}

void
row_table_begin(void)
{
    if (used_pieces != 0)
        begin_anew();
    is_refused = false;
    begun_at = ahead_at = clock_now();
    first_wanted = last_wanted = 0;
    whole_at = whole_end = 0;
}

/* The place of region NUMBER in REGIONS, or the empty one where it belongs. */
static inline uint32_t
find_region(uint64_t number)
{
    uint64_t hash = number * 0x9e3779b97f4a7c15u;
    for (uint32_t i = (uint32_t)(hash >> (64 - REGIONS_BITS));; i++) {
        i %= REGIONS;
        uint64_t seen = atomic_load_explicit(&regions[i], memory_order_acquire);
        if (seen == number + 1 || seen == 0)
            return i;
    }
}

/* The piece of PC, or NULL if no piece of its region is compiled. */
static inline _Atomic uint64_t *
find_piece(uint64_t pc)
{
    uint64_t number = pc >> PIECE_BITS;
    uint32_t region = find_region(number >> REGION_BITS);
    return atomic_load_explicit(&regions[region], memory_order_relaxed) != 0
               ? &pieces[region][number % REGION_PIECES]
               : NULL;
}

/* The place of the entries of PC's piece; 0: it is not compiled. */
static inline uint64_t
place_of(uint64_t pc)
{
    const _Atomic uint64_t *piece = find_piece(pc);
    return piece != NULL ? atomic_load_explicit(piece, memory_order_acquire)
                         : 0;
}

/* The likely place among COUNT entries of that for OFFSET. */
static inline uint32_t
expected_place(uint32_t count, uint32_t offset)
{
    return (uint32_t)(((uint64_t)offset * count) >> PIECE_BITS);
}

/* Returns the last of COUNT entries that begins at or before OFFSET. The first
 * begins at 0, or else the memory has just been emptied. Rows are about equally
 * long. So the search begins where the entry should be, and ends a few entries
 * farther: in one line of a cache, or two. */
static inline uint32_t
last_before(const uint32_t *list, uint32_t count, uint32_t offset)
{
    uint32_t i = expected_place(count, offset);
    while (i > 0 && list[i] >> 16 > offset)
        i--;
    while (i + 1 < count && list[i + 1] >> 16 <= offset)
        i++;
    return list[i];
}

HOT void
row_table_fetch(uint64_t pc)
{
    if (is_there())
        __builtin_prefetch((void *)find_piece(pc));
}

static inline uint32_t
offset_in_piece(uint64_t pc)
{
    return (uint32_t)(pc & (PIECE_SIZE - 1));
}

/* The list of entries at PLACE, and its length in *COUNT. */
static inline const uint32_t *
list_at(uint64_t place, uint32_t *count)
{
    *count = (uint32_t)(place & 0xffff);
    return &entries[place >> 16];
}

HOT void
row_table_fetch_entry(uint64_t pc)
{
    uint32_t count;
    if (!is_there())
        return;
    const uint32_t *list = list_at(place_of(pc), &count);
    __builtin_prefetch(&list[expected_place(count, offset_in_piece(pc))]);
}

HOT void
row_table_fetch_rule(uint64_t pc)
{
    uint32_t count;
    uint64_t place = is_there() ? place_of(pc) : 0;
    if (place == 0)
        return;
    const uint32_t *list = list_at(place, &count);
    uint32_t entry = last_before(list, count, offset_in_piece(pc));
    __builtin_prefetch(&rules[entry & 0xffff]);
}

HOT struct rule
row_table_find(uint64_t pc)
{
    uint32_t before = atomic_load_explicit(&generation, memory_order_acquire);
    if (regions == NULL || (before & 1) != 0)
        return rule_make(RULE_NONE);
    uint64_t place = place_of(pc);
    if (place == 0)
        return rule_make(RULE_NONE);
    uint32_t count;
    const uint32_t *list = list_at(place, &count);
    struct rule rule =
        rules[last_before(list, count, offset_in_piece(pc)) & 0xffff];
    atomic_thread_fence(memory_order_acquire);
    return atomic_load_explicit(&generation, memory_order_relaxed) == before
               ? rule
               : rule_make(RULE_NONE);
}

/* Returns the number of RULE, which is not in RECENT, or 0 if the table is
 * full. */
static uint32_t
find_number(struct rule rule, uint32_t hash)
{
    uint32_t i = hash;
    while (ids[i %= 2 * RULES_MAX] != 0 && rules[ids[i]].word != rule.word)
        i++;
    if (ids[i] == 0 && used_rules + 1 < RULES_MAX) {
        rules[++used_rules] = rule;
        ids[i] = (uint16_t)used_rules;
    }
    return ids[i];
}

/* Returns the number of RULE, or 0 if the table is full. */
static inline uint32_t
number_of(struct rule rule)
{
    if (rule.word == RULE_NONE)
        return 0;
    uint64_t hash = rule.word * 0x9e3779b97f4a7c15u;
    struct recent *last = &recent[hash >> (64 - RECENT_BITS)];
    if (last->word != rule.word)
        *last = (struct recent){rule.word,
                                find_number(rule, (uint32_t)(hash >> 40))};
    return last->number;
}

/* A piece that is being compiled. */
struct compilation {
    struct pages *pages;
    uint64_t start, at; /* of the piece; the rows are known up to AT */
    uint64_t last;      /* the last byte of the present function */
    uint64_t entry;     /* the first instruction of the module; 0: none */
    uint32_t count;
};

/* From AT on, the rule has this NUMBER. */
static void
add_entry(struct compilation *piece, uint64_t at, uint32_t number)
{
    uint32_t *first = &entries[used_entries];
    uint32_t entry = (uint32_t)(at - piece->start) << 16 | number;
    if (piece->count != 0 && (first[piece->count - 1] & 0xffff) == number)
        return;
    if (piece->count != 0 && first[piece->count - 1] >> 16 == entry >> 16)
        piece->count--;
    if (piece->count < PIECE_ENTRIES)
        first[piece->count++] = entry;
}

static void
add_row(void *to, const struct cfi_row *row)
{
    struct compilation *piece = to;
    uint64_t end = piece->start + PIECE_SIZE;
    uint64_t from = row->start > piece->at ? row->start : piece->at;
    uint64_t until = row->end < piece->last ? row->end : piece->last;
    if (until > end)
        until = end;
    if (from >= until)
        return;
    add_entry(piece, from, number_of(row->rule));
    piece->at = until;
}

/* The first function of a module is a root, and its table may not show it. With
 * a link register nothing else does (learn.c). The last byte of a function may
 * precede a signal restorer, and its rule is then not that of its row
 * (learn.c). */
static void
add_function(void *to, const struct fde *fde)
{
    struct compilation *piece = to;
    bool is_entry = ARCH_HAS_LINK && fde->start == piece->entry;
    if (fde->end - fde->start < FUNCTION_LEAST || is_entry)
        return;
    piece->last = fde->end - 1;
    if (piece->at < fde->start)
        piece->at = fde->start;
    (void)cfi_rows(piece->pages, fde, piece->at, piece->start + PIECE_SIZE,
                   add_row, piece);
    if (piece->at < piece->start + PIECE_SIZE)
        add_entry(piece, piece->at, 0);
}

/* The piece of PC. If its region is new, a page is written before a handler can
 * read it. */
static _Atomic uint64_t *
claim_piece(uint64_t pc)
{
    uint64_t number = pc >> PIECE_BITS;
    uint32_t region = find_region(number >> REGION_BITS);
    if (atomic_load_explicit(&regions[region], memory_order_relaxed) == 0) {
        atomic_store_explicit(&pieces[region][0], 0, memory_order_relaxed);
        atomic_store_explicit(&regions[region], (number >> REGION_BITS) + 1,
                              memory_order_release);
        used_regions++;
    }
    return &pieces[region][number % REGION_PIECES];
}

/* Compile the piece of PC, which is in MODULE. */
static void
compile_piece(struct pages *pages, const struct module *module, uint64_t pc)
{
    uint64_t start = pc & ~(PIECE_SIZE - 1);
    struct compilation made = {.pages = pages,
                               .start = start,
                               .at = start,
                               .entry = module->entry};
    add_entry(&made, start, 0);
    fde_each(pages, module, start, start + PIECE_SIZE, add_function, &made);
    atomic_store_explicit(claim_piece(pc),
                          (uint64_t)used_entries << 16 | made.count,
                          memory_order_release);
    used_entries += made.count;
    used_pieces++;
}

/* Whether the piece of PC is compiled. The memory has room for one more. */
static bool
is_compiled(uint64_t pc)
{
    if (!is_there() || used_regions >= REGIONS / 2 ||
        used_pieces >= PIECES_MAX || used_rules + 1 >= RULES_MAX ||
        used_entries + PIECE_ENTRIES > ENTRIES_MAX)
        begin_anew();
    return is_refused || place_of(pc) != 0;
}

/* Compile the piece of PC, unless that was done. */
static void
compile_once(struct pages *pages, const struct module *module, uint64_t pc)
{
    if (!is_compiled(pc))
        compile_piece(pages, module, pc);
}

/* Remember the area of PC, unless it is the last one already. */
static void
want_area(uint64_t pc)
{
    uint64_t area = pc & ~(AREA_PIECES * PIECE_SIZE - 1);
    uint64_t last = wanted[(last_wanted - 1) % WANTED];
    if (last_wanted != first_wanted && last - area < AREA_PIECES * PIECE_SIZE)
        return;
    wanted[last_wanted++ % WANTED] = area;
    if (last_wanted - first_wanted > WANTED)
        first_wanted++;
}

struct rule
row_table_learn(struct pages *pages, const struct module *module, uint64_t pc)
{
    compile_once(pages, module, pc);
    want_area(pc);
    missed = pc;
    return is_refused ? rule_make(RULE_NONE) : row_table_find(pc);
}

/* Compile the piece of *AT, if it is in a module, and move *AT to the next. */
static void
compile_next(struct pages *pages, uint64_t *at)
{
    const struct module *module = modules_find(*at);
    if (module != NULL)
        compile_once(pages, module, *at);
    *at += PIECE_SIZE;
}

/* Compile the next piece of the first wanted area, or of the segment that is
 * compiled as a whole. */
static void
compile_ahead(struct pages *pages)
{
    if (first_wanted == last_wanted) {
        compile_next(pages, &whole_at);
        return;
    }
    uint64_t *at = &wanted[first_wanted % WANTED];
    compile_next(pages, at);
    first_wanted += *at % (AREA_PIECES * PIECE_SIZE) == 0;
}

/* Returns the executable segment that holds PC, or NULL. */
static const struct module_load *
find_segment(uint64_t pc)
{
    const struct module *module = modules_find(pc);
    for (unsigned i = 0; module != NULL && i < module->load_count; i++)
        if (pc >= module->loads[i].start && pc < module->loads[i].end &&
            module->loads[i].executable)
            return &module->loads[i];
    return NULL;
}

/* All wanted areas are compiled. If the segment of PC has enough of them,
 * compile all of it. */
static void
want_whole(uint64_t pc)
{
    const struct module_load *segment = find_segment(pc);
    uint32_t areas = 0, compiled = 0;
    if (segment == NULL || segment->end == whole_end)
        return;
    for (uint64_t at = segment->start; at < segment->end;
         at += AREA_PIECES * PIECE_SIZE) {
        areas++;
        compiled += place_of(at) != 0;
    }
    if (compiled < areas / WHOLE_PART)
        return;
    whole_at = segment->start;
    whole_end = segment->end;
}

/* Whether the table has room for more than walks need. */
static bool
has_room_ahead(void)
{
    return !is_refused && used_regions < REGIONS / 4 &&
           used_pieces < PIECES_MAX / 2 && used_entries < ENTRIES_MAX / 2;
}

void
row_table_ahead(struct pages *pages)
{
    uint64_t now = clock_now();
    bool is_young = now - begun_at < YOUNG_NS;
    uint64_t most = (now - ahead_at) / (is_young ? YOUNG_SHARE : AHEAD_SHARE);
    uint64_t until = now + (most < AHEAD_NS ? most : AHEAD_NS);
    ahead_at = now;
    bool had_areas = first_wanted != last_wanted;
    while ((first_wanted != last_wanted || whole_at < whole_end) &&
           has_room_ahead() && clock_now() < until)
        compile_ahead(pages);
    if (had_areas && first_wanted == last_wanted && whole_at >= whole_end &&
        has_room_ahead())
        want_whole(missed);
}

void
row_table_forget(uint64_t start, uint64_t end)
{
    if (used_pieces == 0 || end <= start)
        return;
    if (start < whole_end && end >= whole_end)
        whole_at = whole_end = 0;
    for (uint64_t i = start >> PIECE_BITS; i <= (end - 1) >> PIECE_BITS; i++) {
        _Atomic uint64_t *piece = find_piece(i << PIECE_BITS);
        if (piece != NULL)
            atomic_store_explicit(piece, 0, memory_order_release);
    }
}
