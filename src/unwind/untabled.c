/* SPDX-License-Identifier: MIT */
/*
 * untabled.c -- see untabled.h. It runs on the sampler thread.
 *
 * The hard thing is generated code, which may be another function's a moment
 * later. So a rule from generated code holds for one pc, and the code is
 * compared again from time to time.
 */
#include <string.h>

#include "base/arch.h"
#include "base/clock.h"
#include "base/sys.h"
#include "process/modules.h"
#include "code_rows.h"
#include "epilogue.h"
#include "untabled.h"
#include "base/poison.h"

/* Limit of what is read at once, in bytes. */
#define PIECE 1024u

/* Size in bytes of the blocks that get one rule if code showed nothing. Code
 * that follows will show nothing, either. Code before it may be another
 * function. */
#define SILENT_ROW 128u

/* Limit of the generated code that is read for a rule, in bytes. */
#define GENERATED_REACH 64u

/* Rules that may expire, WATCHED at most. Some are for generated code, with the
 * code that they are from. The others say, for any code, that no rule is known,
 * and hold for IN_VAIN_NS. If the list is full, the oldest is forgotten.
 * SETTLE_COUNT are compared at a time, SETTLE_NS apart. */
#define WATCHED 1024u
#define SETTLE_COUNT 32u
#define SETTLE_NS 20000000u
#define IN_VAIN_NS 250000000u
static struct watched {
    uint64_t pc, from; /* 0: unused */
    uint64_t until;    /* 0: as long as the code is the same */
    uint8_t length;
    uint8_t code[GENERATED_REACH];
} * watched;
static uint32_t next_watched, next_settled;
static uint64_t settle_at;

/* EPILOGUE_REACH bytes, which come with the first use. */
static uint8_t *bytes;

/* Read the code from START to END into BYTES, up to LIMIT of them. Returns how
 * many. */
static size_t
read_code(uint64_t start, uint64_t end, size_t limit, bool is_generated)
{
    size_t length = 0;
    if (bytes == NULL)
        bytes = sys_reserve_for_one(EPILOGUE_REACH);
    if (bytes == NULL)
        return 0;
    if (limit > end - start)
        limit = end - start;
    while (length < limit) {
        /* Not beyond the end of a page: the next one may not be there. */
        size_t piece = PIECE - ((start + length) & (PIECE - 1));
        if (piece > limit - length)
            piece = limit - length;
        long got = is_generated
                       ? sys_read_present(bytes + length, start + length, piece)
                       : sys_read_memory(bytes + length, start + length, piece);
        length += got > 0 ? (size_t)got : 0;
        if (got != (long)piece)
            break;
    }
    return length;
}

static void
forget_watched(struct watched *old)
{
    if (old->pc != 0)
        rules_drop(old->pc);
    old->pc = 0;
}

/* Remember the code from which the rule for PC is, or until when the rule
 * holds.
 */
static void
watch_code(uint64_t pc, uint64_t from, size_t length, uint64_t until)
{
    if (watched == NULL)
        watched = sys_reserve(WATCHED * sizeof(*watched));
    if (watched == NULL)
        return;
    struct watched *new = &watched[next_watched++ % WATCHED];
    forget_watched(new);
    new->pc = pc;
    new->from = from;
    new->until = until;
    new->length = (uint8_t)length;
    memcpy(new->code, bytes, length);
}

/* Whether the rule of OLD may be wrong at the time NOW. */
static bool
is_outdated(const struct watched *old, uint64_t now)
{
    uint8_t code[GENERATED_REACH];
    if (old->until != 0)
        return now >= old->until;
    return sys_read_present(code, old->from, old->length) !=
               (long)old->length ||
           memcmp(code, old->code, old->length) != 0;
}

void
untabled_settle(uint64_t now)
{
    uint32_t count = next_watched < WATCHED ? next_watched : WATCHED;
    if (count == 0 || now < settle_at)
        return;
    settle_at = now + SETTLE_NS;
    for (uint32_t i = 0; i < SETTLE_COUNT && i < count; i++) {
        struct watched *old = &watched[next_settled++ % count];
        if (old->pc != 0 && is_outdated(old, now))
            forget_watched(old);
    }
}

void
untabled_give_up(uint64_t pc, struct rule rule)
{
    watch_code(pc, pc, 0, clock_now() + IN_VAIN_NS);
    rules_put(pc, rule_chain_last(rule));
}

/* The end of PC's page. Whole pages of generated code usually keep a frame
 * pointer. */
static uint64_t
page_end(uint64_t pc)
{
    return (pc | 4095) + 1;
}

void
untabled_decide(uint64_t pc, bool is_generated, struct rule rule)
{
    if (is_generated)
        watch_code(pc, pc, read_code(pc, page_end(pc), GENERATED_REACH, true),
                   0);
    rules_put(pc, rule);
}

/* Whether EPILOGUE shows a frame without a frame pointer. */
static bool
is_by_sp(const struct epilogue *epilogue)
{
    return rule_cfa(epilogue->rule) == RULE_CFA_SP &&
           rule_fp(epilogue->rule) == RULE_FP_SAME;
}

/* Only a simple case counts, and only if no frame pointer is kept: straight
 * code, or a leaf that loads nothing on its way to the return.
 */
struct rule
untabled_put_generated(uint64_t pc, bool is_return)
{
    struct epilogue epilogue;
    uint64_t from = pc + is_return;
    size_t length = read_code(from, page_end(pc), GENERATED_REACH, true);
    bool is_shown = epilogue_read(bytes, length, EPILOGUE_STRAIGHT, from, NULL,
                                  &epilogue) &&
                    is_by_sp(&epilogue);
    if (ARCH_HAS_LINK && !is_shown && !is_return)
        is_shown = epilogue_read(bytes, length, EPILOGUE_BRANCHED, from, NULL,
                                 &epilogue) &&
                   is_by_sp(&epilogue) && rule_is_linked(epilogue.rule);
    if (is_shown) {
        watch_code(pc, from, length, 0);
        return epilogue.rule;
    }
    rules_put_row(pc, pc & ~4095ull, page_end(pc), rule_chain(0));
    return rule_chain(0);
}

/* Read called code. It must be in a file, where it does not change. */
static size_t
read_callee(uint64_t address, uint8_t *to, size_t limit)
{
    if (modules_code_kind(address) != CODE_MODULE)
        return 0;
    long got = sys_read_memory(to, address, limit);
    return got > 0 ? (size_t)got : 0;
}

struct rule
untabled_put(uint64_t pc, bool is_return, uint64_t end, bool is_go)
{
    struct epilogue epilogue;
    struct cfi_row row = code_rows_find(pc);
    uint64_t from = pc + is_return, row_end = (pc | (SILENT_ROW - 1)) + 1;
    if (rule_kind(row.rule) != RULE_NONE) {
        rules_put_row(pc, row.start, row.end, row.rule);
        return row.rule;
    }
    size_t length = read_code(from, end, EPILOGUE_REACH, false);
    if (epilogue_read(bytes, length, EPILOGUE_BRANCHED, from, read_callee,
                      &epilogue)) {
        rules_put_row(pc, pc, from + epilogue.same, epilogue.rule);
        return epilogue.rule;
    }
    struct rule chain = rule_chain(is_go ? RULE_CHAIN_ROOTED : 0);
    if (!is_go)
        code_rows_want(pc);
    rules_put_row(pc, pc, row_end > end ? end : row_end, chain);
    return chain;
}
