/* SPDX-License-Identifier: MIT */
/*
 * code_rows.c -- see code_rows.h.
 *
 * The hard thing is where a function begins. What may be a beginning is tried,
 * the nearest first: the target of a call, and what follows a return or a jump.
 * A wrong one does no harm. From there sp at the return would not be what it
 * was at the entry, so the rules would not be proved; unless they hold all the
 * same.
 */
#include <string.h>

#include "base/clock.h"
#include "base/sys.h"
#include "process/modules.h"
#include "call_site.h"
#include "code_effect.h"
#include "code_flow.h"
#include "fde.h"
#include "pages.h"
#include "rules.h"
#include "code_rows.h"
#include "base/poison.h"

/* Bytes of code that are read before a pc, and after it: at first, and if that
 * was not enough. */
#define REACH_FIRST (48u << 10)
#define REACH (CODE_FLOW_REACH / 2)

/* Limits: of the functions that are kept, and their rows; of the pcs that wait;
 * and of those of which nothing was found, which are not tried again. */
#define FUNCTIONS 1024u
#define ROWS 16384u
#define WANTED 64u
#define FAILED 256u

/* Of a stretch of NEAR bytes one pc waits at a time. */
#define NEAR 512u

/* Entries of each kind that are tried for one pc, and ns of CPU time after
 * which no further one is. */
#define ENTRIES 16u
#define TRY_NS 4000000u

/* Bytes of a function that is called, if it is near the pc; of another one, up
 * to its jump; and such jumps. */
#define WAY_REACH (64u << 10)
#define TAIL_REACH 512u
#define JUMPS_MOST 8u

/* To read functions may take 1 / AHEAD_SHARE of the time, and AHEAD_NS at once:
 * a program has few such functions that matter. */
#define AHEAD_SHARE 20u
#define AHEAD_NS 25000000u

/* Where functions may begin, the nearest ones; the last one of a call. */
struct entries {
    uint32_t at[ENTRIES], count;
    uint32_t called; /* 0: none */
};

struct function {
    uint64_t base, start, end; /* of the code that was read, and its own */
    uint32_t first, count;     /* of its rows */
};

static struct kept {
    struct function functions[FUNCTIONS];
    struct code_row rows[ROWS];
    uint64_t wanted[WANTED], failed[FAILED];
    struct code_flow flow;
    uint8_t code[CODE_FLOW_REACH];
} * kept;
static struct entries likely, others;
static uint32_t functions, rows, first_wanted, last_wanted, failures;
static uint64_t begun_at, spent; /* ns */

int
code_rows_begin(void)
{
    kept = sys_renew(kept, sizeof(*kept));
    functions = rows = first_wanted = last_wanted = failures = 0;
    begun_at = clock_now();
    spent = 0;
    return kept != NULL ? code_flow_begin() : -1;
}

/* The function that has a row for PC: *ROW. NULL: none has. */
static const struct function *
find_function(uint64_t pc, const struct code_row **row)
{
    for (uint32_t i = functions; i-- > 0;) {
        const struct function *function = &kept->functions[i];
        if (pc < function->start || pc >= function->end)
            continue;
        *row = code_flow_row(kept->rows + function->first, function->count,
                             pc - function->base);
        if (*row != NULL)
            return function;
    }
    return NULL;
}

struct cfi_row
code_rows_find(uint64_t pc)
{
    const struct code_row *row;
    const struct function *function = find_function(pc, &row);
    if (function == NULL)
        return (struct cfi_row){pc, pc, rule_make(RULE_NONE)};
    return (struct cfi_row){function->base + row->start,
                            function->base + row->end, row->rule};
}

bool
code_rows_function(uint64_t pc, uint64_t *start, uint64_t *end)
{
    const struct code_row *row;
    const struct function *function = find_function(pc, &row);
    if (function == NULL)
        return false;
    *start = function->start;
    *end = function->end;
    return true;
}

static bool
has_failed(uint64_t pc)
{
    uint32_t count = failures < FAILED ? failures : FAILED;
    for (uint32_t i = 0; i < count; i++)
        if (kept->failed[i] == pc)
            return true;
    return false;
}

/* Whether a pc in the stretch of PC waits already. */
static bool
is_wanted(uint64_t pc)
{
    for (uint32_t i = first_wanted; i != last_wanted; i++)
        if (kept->wanted[i % WANTED] / NEAR == pc / NEAR)
            return true;
    return false;
}

void
code_rows_want(uint64_t pc)
{
    if (kept == NULL || last_wanted - first_wanted >= WANTED ||
        has_failed(pc) || is_wanted(pc))
        return;
    kept->wanted[last_wanted++ % WANTED] = pc;
}

void
code_rows_forget(uint64_t start, uint64_t end)
{
    for (uint32_t i = 0; i < functions; i++)
        if (kept->functions[i].start < end && kept->functions[i].end > start)
            kept->functions[i].start = kept->functions[i].end = 0;
    for (uint32_t i = 0; kept != NULL && i < FAILED; i++)
        if (kept->failed[i] >= start && kept->failed[i] < end)
            kept->failed[i] = 0;
}

/* Read the code from START to END. IS_GUESS: that there is any is a guess, and
 * so it must be in memory (view.h). Returns how much of it is there. */
static size_t
read_code(uint64_t start, uint64_t end, bool is_guess)
{
    size_t length = 0;
    while (start + length < end) {
        size_t piece = PAGES_SIZE - ((start + length) & (PAGES_SIZE - 1));
        if (piece > end - start - length)
            piece = end - start - length;
        uint8_t *to = kept->code + length;
        long got = is_guess ? sys_read_present(to, start + length, piece)
                            : sys_read_memory(to, start + length, piece);
        length += got > 0 ? (size_t)got : 0;
        if (got != (long)piece)
            break;
    }
    return length;
}

static void
add_entry(struct entries *list, uint32_t at)
{
    list->at[list->count++ % ENTRIES] = at;
}

/* Note what may be beginnings up to AT in the LENGTH bytes of code. A called
 * address is one. Code after a return usually is one, and code after a jump
 * sometimes. */
static void
find_entries(size_t length, uint32_t at)
{
    struct code_state state = {0};
    enum code_step last = CODE_RETURN;
    likely = others = (struct entries){.count = 0};
    for (uint32_t i = 0; i < length;) {
        size_t size;
        int64_t target;
        if (code_effect_is_padding(kept->code + i, length - i, &size)) {
            i += (uint32_t)size;
            /* It may not have returned. */
            last = last == CODE_CALL ? CODE_JUMP : last;
            continue;
        }
        if (i <= at && (last == CODE_RETURN || last == CODE_END))
            add_entry(&likely, i);
        else if (i <= at && (last == CODE_JUMP || last == CODE_SWITCH ||
                             last == CODE_LEAVE))
            add_entry(&others, i);
        last = code_effect_step(&state, kept->code + i, length - i, &size,
                                &target);
        /* A call through a register has no target. */
        bool is_direct =
            last == CODE_CALL && target != 0 && target != (int64_t)size;
        target += i;
        if (is_direct && target > likely.called && target <= at)
            likely.called = (uint32_t)target;
        i += (uint32_t)size;
    }
    if (likely.called != 0)
        add_entry(&likely, likely.called);
}

/* Follow the code from the entries of LIST until one has a row for AT. */
static bool
follow_entries(const struct entries *list, size_t length, uint32_t at)
{
    uint32_t most = list->count < ENTRIES ? list->count : ENTRIES;
    uint64_t until = clock_own() + TRY_NS;
    for (uint32_t i = 1; i <= most && clock_own() < until; i++) {
        uint32_t entry = list->at[(list->count - i) % ENTRIES];
        if (code_flow_read(kept->code, length, entry, entry == list->called,
                           &kept->flow) &&
            code_flow_row(kept->flow.rows, kept->flow.count, at) != NULL)
            return true;
    }
    return false;
}

/* Keep the rows of the function that was followed in code from BASE on. */
static void
keep_flow(uint64_t base)
{
    const struct code_flow *flow = &kept->flow;
    if (functions == FUNCTIONS || rows + flow->count > ROWS)
        functions = rows = 0;
    struct function *new = &kept->functions[functions++];
    *new = (struct function){base, base + flow->rows[0].start,
                             base + flow->rows[flow->count - 1].end, rows,
                             flow->count};
    memcpy(kept->rows + rows, flow->rows, flow->count * sizeof(flow->rows[0]));
    rows += flow->count;
    rules_forget(new->start, new->end);
}

/* Bound the code from START to END by what is executed around PC. */
static void
bound_code(const struct module *module, uint64_t pc, uint64_t *start,
           uint64_t *end)
{
    for (unsigned i = 0; i < module->load_count; i++) {
        const struct module_load *load = &module->loads[i];
        if (pc < load->start || pc >= load->end)
            continue;
        *start = load->start > *start ? load->start : *start;
        *end = load->end < *end ? load->end : *end;
    }
}

/* Find the function of PC, which is in code from START to END without FDEs,
 * within REACH bytes. Returns whether its rows are kept. */
static bool
read_within(uint64_t pc, uint64_t start, uint64_t end, uint64_t reach)
{
    if (pc - start > reach)
        start = pc - reach;
    start &= ~15ull;
    if (end - pc > reach)
        end = pc + reach;
    size_t length = read_code(start, end, false);
    uint32_t at = (uint32_t)(pc - start);
    find_entries(length, at);
    if (!follow_entries(&likely, length, at) &&
        !follow_entries(&others, length, at))
        return false;
    keep_flow(start);
    return true;
}

/* Find the function of PC, and keep its rows. */
static void
read_function(struct pages *pages, uint64_t pc)
{
    const struct module *module = modules_find(pc);
    struct fde fde;
    if (module == NULL || fde_find(pages, module, pc, &fde))
        return;
    uint64_t start = fde_gap_start(pages, module, pc);
    uint64_t end = fde_gap_end(pages, module, pc);
    bound_code(module, pc, &start, &end);
    bool is_near = pc - start <= REACH_FIRST && end - pc <= REACH_FIRST;
    if (!read_within(pc, start, end, REACH_FIRST) &&
        (is_near || !read_within(pc, start, end, REACH)))
        kept->failed[failures++ % FAILED] = pc;
}

/* A function's code, as far as it was gone through in a row. */
struct extent {
    uint64_t end;               /* no jump passes over what ends it here */
    uint64_t jumps[JUMPS_MOST]; /* the last ones, inside it or not */
    uint32_t count;
    bool has_switch;  /* it jumps to an address that is computed */
    bool is_doubtful; /* a jump that leads beyond an end may leave it */
};

/* Whether STEP ends the function at AT in the LENGTH bytes of code, if no jump
 * passes over it. What fills a gap follows a call that does not return. */
static bool
is_end(enum code_step step, size_t at, size_t length)
{
    size_t size;
    if (step == CODE_CALL)
        return at < length &&
               code_effect_is_padding(kept->code + at, length - at, &size);
    return step != CODE_ON && step != CODE_BRANCH;
}

/* Go through the code from START on, up to LIMIT, until its function ends. */
static void
find_extent(uint64_t start, uint64_t limit, struct extent *extent)
{
    struct code_state state = {0};
    size_t length = read_code(start, limit, true), size, i = 0;
    uint64_t farthest = start, branched = start;
    *extent = (struct extent){.end = start};
    while (i < length) {
        int64_t offset;
        enum code_step step = code_effect_step(&state, kept->code + i,
                                               length - i, &size, &offset);
        uint64_t target = start + i + (uint64_t)offset;
        i += size;
        extent->end = start + i;
        bool jumps = step == CODE_BRANCH || step == CODE_JUMP;
        if (jumps && target > farthest && target < limit)
            farthest = target;
        if (step == CODE_BRANCH && target > branched && target < limit)
            branched = target;
        if (step == CODE_JUMP)
            extent->jumps[extent->count++ % JUMPS_MOST] = target;
        extent->has_switch |= step == CODE_SWITCH || step == CODE_LEAVE;
        bool ends = is_end(step, i, length);
        if (step == CODE_LOST || (farthest < extent->end && ends))
            return;
        extent->is_doubtful |= ends && branched < extent->end;
    }
}

/* A stretch of code without FDEs. */
struct stretch {
    uint64_t start, end;
};

static bool
holds(const struct stretch *stretch, uint64_t address)
{
    return address >= stretch->start && address < stretch->end;
}

/* Whether the function that begins at ENTRY reaches to PC, in STRETCH. *EXTENT
 * becomes that of the function; outside of STRETCH, of its first bytes. */
static enum code_way
way_to(uint64_t entry, const struct stretch *stretch, uint64_t pc,
       struct extent *extent)
{
    bool is_near = holds(stretch, entry);
    uint64_t limit = entry + (is_near ? WAY_REACH : TAIL_REACH);
    if (is_near && limit > stretch->end)
        limit = stretch->end;
    find_extent(entry, limit, extent);
    if (!is_near || entry > pc || extent->end <= pc)
        return CODE_WAY_NONE;
    return extent->is_doubtful ? CODE_WAY_POSSIBLE : CODE_WAY_SURE;
}

enum code_way
code_rows_way(struct pages *pages, uint64_t return_address, uint64_t pc)
{
    const struct module *module = modules_find(pc);
    struct extent extent, other;
    uint64_t entry;
    if (module == NULL || kept == NULL)
        return CODE_WAY_NONE;
    if (!call_site_target(return_address, &entry))
        return CODE_WAY_POSSIBLE;
    if (modules_code_kind(entry) != CODE_MODULE)
        return CODE_WAY_NONE;
    const struct stretch stretch = {fde_gap_start(pages, module, pc),
                                    fde_gap_end(pages, module, pc)};
    enum code_way best = way_to(entry, &stretch, pc, &extent);
    if (best != CODE_WAY_NONE)
        return best;
    /* It may end with a jump to the function of PC. */
    uint32_t count = extent.count < JUMPS_MOST ? extent.count : JUMPS_MOST;
    best = extent.has_switch ? CODE_WAY_POSSIBLE : CODE_WAY_NONE;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t to = extent.jumps[i];
        bool leaves = to < entry || to >= extent.end;
        enum code_way way = leaves && holds(&stretch, to) && to <= pc
                                ? way_to(to, &stretch, pc, &other)
                                : CODE_WAY_NONE;
        best = way > best ? way : best;
    }
    return best;
}

void
code_rows_ahead(struct pages *pages)
{
    uint64_t most = AHEAD_NS + (clock_now() - begun_at) / AHEAD_SHARE;
    while (first_wanted != last_wanted && spent < most) {
        uint64_t pc = kept->wanted[first_wanted++ % WANTED];
        uint64_t start = clock_own();
        if (rule_kind(code_rows_find(pc).rule) != RULE_NONE)
            continue;
        read_function(pages, pc);
        /* Others of its stretch could not be asked for meanwhile. */
        rules_forget(pc & ~(NEAR - 1ull), (pc | (NEAR - 1)) + 1);
        spent += clock_own() - start;
        return;
    }
}
