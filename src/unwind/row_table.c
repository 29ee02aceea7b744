/* SPDX-License-Identifier: MIT */
/*
 * row_table.c -- see row_table.h.
 *
 * The hard thing is to empty the memory when it is full, while handlers read. A
 * generation is counted up before and after. A reader that sees another one at
 * its end has found no rule.
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

/* Limits: of the pieces, a power of two; of the entries of all pieces, which
 * take 4 bytes each; and of the different rules. */
#define PIECES 65536u
#define ENTRIES_MAX (2u << 20)
#define RULES_MAX 16384u

/* Most entries of one piece: more than one for each byte make no sense. */
#define PIECE_ENTRIES 4096u

/* Number of areas that wait to be compiled; the oldest gives way. */
#define WANTED 64u

/* To compile ahead may take 1 / AHEAD_SHARE of the time, and AHEAD_NS at a
 * time. */
#define AHEAD_SHARE 50u
#define AHEAD_NS 1000000u

/* Part of a segment's areas, 1 / WHOLE_PART, behind which all of it is compiled
 * ahead: walks miss everywhere in it. */
#define WHOLE_PART 4u

/* Bytes of the smallest function whose rows are taken. A signal restorer has 9,
 * and its table may not say what it is. */
#define FUNCTION_LEAST 17u

/* Keys are piece numbers + 2. */
enum { EMPTY, FORGOTTEN, KEY_FIRST };

struct piece {
    _Atomic uint64_t key;
    _Atomic uint64_t place; /* first entry << 16 | number of entries - 1 */
};
static HOT_STATE struct piece *pieces;
static HOT_STATE uint32_t
    *entries; /* offset in the piece << 16 | rule's number */
static HOT_STATE struct rule *rules; /* by number; 0: none */
static HOT_STATE uint16_t
    *ids; /* the numbers of rules, by a hash of the word */
static uint32_t used_pieces, used_entries, used_rules;
static HOT_STATE _Atomic uint32_t generation;

/* The areas in which walks have missed rules: where the next piece of each
 * begins. They are compiled in turn from FIRST_WANTED on. */
static uint64_t wanted[WANTED];
static uint32_t first_wanted, last_wanted;
static uint64_t ahead_at; /* when that was last done */

/* Where a walk has missed last. It is in a segment, while an area may begin in
 * front of its segment and end behind it. */
static uint64_t missed;

/* The segment that is compiled as a whole, from its next piece on. */
static uint64_t whole_at, whole_end;
static bool is_refused; /* memory was short */

/* Whether all memory is there. */
static bool
is_there(void)
{
    return pieces != NULL && entries != NULL && rules != NULL && ids != NULL;
}

/* Empty all memory, or reserve it. */
static bool
reserve_all(void)
{
    pieces = sys_renew(pieces, PIECES * sizeof(*pieces));
    entries = sys_renew(entries, ENTRIES_MAX * sizeof(*entries));
    rules = sys_renew(rules, RULES_MAX * sizeof(*rules));
    ids = sys_renew(ids, 2 * RULES_MAX * sizeof(*ids));
    return is_there();
}

static void
begin_anew(void)
{
    atomic_fetch_add(&generation, 1);
    is_refused = !reserve_all();
    used_pieces = used_entries = used_rules = 0;
    atomic_fetch_add(&generation, 1);
}

void
row_table_begin(void)
{
    if (used_pieces != 0)
        begin_anew();
    is_refused = false;
    first_wanted = last_wanted = 0;
    whole_at = whole_end = 0;
}

/* Neighbours are kept together: 64 pieces share a KiB. */
static inline uint32_t
place_of(uint64_t number)
{
    uint64_t group = (number >> 6) * 0x9e3779b97f4a7c15u;
    return (uint32_t)(group >> 40) << 6 | (uint32_t)(number & 63);
}

/* The cell of piece NUMBER, or the empty one behind all where it may be. */
static inline struct piece *
find_piece(uint64_t number)
{
    for (uint32_t i = place_of(number);; i++) {
        struct piece *piece = &pieces[i % PIECES];
        uint64_t key = atomic_load_explicit(&piece->key, memory_order_acquire);
        if (key == number + KEY_FIRST || key == EMPTY)
            return piece;
    }
}

/* Where among COUNT entries that for OFFSET should be. */
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
    if (pieces != NULL)
        __builtin_prefetch(&pieces[place_of(pc >> PIECE_BITS) % PIECES]);
}

static inline uint32_t
offset_in_piece(uint64_t pc)
{
    return (uint32_t)(pc & (PIECE_SIZE - 1));
}

/* The list of PC's piece, and its length in *COUNT. Any list if there is no
 * such piece. */
static inline const uint32_t *
list_of(const struct piece *piece, uint32_t *count)
{
    uint64_t place = atomic_load_explicit(&piece->place, memory_order_acquire);
    *count = (uint32_t)(place & 0xffff) + 1;
    return &entries[place >> 16];
}

HOT void
row_table_fetch_entry(uint64_t pc)
{
    uint32_t count;
    if (!is_there())
        return;
    const uint32_t *list = list_of(find_piece(pc >> PIECE_BITS), &count);
    __builtin_prefetch(&list[expected_place(count, offset_in_piece(pc))]);
}

HOT void
row_table_fetch_rule(uint64_t pc)
{
    uint32_t count;
    if (!is_there())
        return;
    const uint32_t *list = list_of(find_piece(pc >> PIECE_BITS), &count);
    uint32_t entry = last_before(list, count, offset_in_piece(pc));
    __builtin_prefetch(&rules[entry & 0xffff]);
}

HOT struct rule
row_table_find(uint64_t pc)
{
    uint32_t before = atomic_load_explicit(&generation, memory_order_acquire);
    if (pieces == NULL || (before & 1) != 0)
        return rule_make(RULE_NONE);
    const struct piece *piece = find_piece(pc >> PIECE_BITS);
    if (atomic_load_explicit(&piece->key, memory_order_acquire) == EMPTY)
        return rule_make(RULE_NONE);
    uint32_t count;
    const uint32_t *list = list_of(piece, &count);
    struct rule rule =
        rules[last_before(list, count, offset_in_piece(pc)) & 0xffff];
    atomic_thread_fence(memory_order_acquire);
    return atomic_load_explicit(&generation, memory_order_relaxed) == before
               ? rule
               : rule_make(RULE_NONE);
}

/* Returns the number of RULE, or 0 if there are too many. */
static uint32_t
number_of(struct rule rule)
{
    if (rule.word == RULE_NONE)
        return 0;
    uint32_t i = (uint32_t)(rule.word * 0x9e3779b97f4a7c15u >> 40);
    while (ids[i %= 2 * RULES_MAX] != 0 && rules[ids[i]].word != rule.word)
        i++;
    if (ids[i] == 0 && used_rules + 1 < RULES_MAX) {
        rules[++used_rules] = rule;
        ids[i] = (uint16_t)used_rules;
    }
    return ids[i];
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

/* The first function of a module is a root, and its table may not say so. With
 * a link register nothing else shows it (learn.c).
 * The last byte of a function may be in front of a signal restorer, and the
 * answer for it is not that of its row (learn.c). */
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
    struct piece *piece = find_piece(pc >> PIECE_BITS);
    atomic_store_explicit(&piece->place,
                          (uint64_t)used_entries << 16 | (made.count - 1),
                          memory_order_relaxed);
    atomic_store_explicit(&piece->key, (pc >> PIECE_BITS) + KEY_FIRST,
                          memory_order_release);
    used_entries += made.count;
    used_pieces++;
}

/* Whether the piece of PC is compiled. The memory has room for one more. */
static bool
is_compiled(uint64_t pc)
{
    if (!is_there() || used_pieces >= PIECES / 2 ||
        used_rules + 1 >= RULES_MAX ||
        used_entries + PIECE_ENTRIES > ENTRIES_MAX)
        begin_anew();
    return is_refused ||
           atomic_load(&find_piece(pc >> PIECE_BITS)->key) != EMPTY;
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
        compiled += atomic_load(&find_piece(at >> PIECE_BITS)->key) != EMPTY;
    }
    if (compiled < areas / WHOLE_PART)
        return;
    whole_at = segment->start;
    whole_end = segment->end;
}

/* Whether there is room for more than what walks need. */
static bool
has_room_ahead(void)
{
    return !is_refused && used_pieces < PIECES / 4 &&
           used_entries < ENTRIES_MAX / 2;
}

void
row_table_ahead(struct pages *pages)
{
    uint64_t now = clock_now(), most = (now - ahead_at) / AHEAD_SHARE;
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
        struct piece *piece = find_piece(i);
        if (atomic_load_explicit(&piece->key, memory_order_relaxed) != EMPTY)
            atomic_store_explicit(&piece->key, FORGOTTEN, memory_order_release);
    }
}
