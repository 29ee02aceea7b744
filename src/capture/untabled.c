/* SPDX-License-Identifier: MIT */
/*
 * untabled.c -- see untabled.h. Sampler thread.
 *
 * The hard thing is generated code, which may be another function's a moment
 * later. So a rule that its code showed holds for one pc, and the code is
 * looked at again from time to time.
 */
#include <string.h>

#include "base/sys.h"
#include "target/modules.h"
#include "epilogue.h"
#include "untabled.h"
#include "poison.h"

/* What is read at once, at most. */
#define PIECE 1024u

/* Neighbours of code that showed nothing will show nothing either. */
#define SILENT_ROW 128u

/* Instructions of generated code that show a rule lie within so many bytes. */
#define GENERATED_REACH 64u

/* Rules for generated code, and the code that they are from. When there is no
 * room, the oldest is forgotten. */
#define WATCHED 1024u
#define SETTLE_COUNT 32u
#define SETTLE_NS 20000000u
static struct watched {
    uint64_t pc, from; /* 0: unused */
    uint8_t length;
    uint8_t code[GENERATED_REACH];
} * watched;
static uint32_t next_watched, next_settled;
static uint64_t settle_at;

static uint8_t bytes[EPILOGUE_REACH];

/* The code from START on into BYTES, up to LIMIT of them. Returns how many. */
static size_t
read_code(const struct untabled *code, uint64_t start, size_t limit)
{
    size_t length = 0;
    if (limit > code->end - start)
        limit = code->end - start;
    while (length < limit) {
        /* To the end of a page, and not beyond: the next may not be there. */
        size_t piece = PIECE - ((start + length) & (PIECE - 1));
        if (piece > limit - length)
            piece = limit - length;
        long got = code->is_generated
                       ? sys_read_present(bytes + length, start + length, piece)
                       : sys_read_memory(bytes + length, start + length, piece);
        length += got > 0 ? (size_t)got : 0;
        if (got != (long)piece)
            break;
    }
    return length;
}

static void
forget(struct watched *old)
{
    if (old->pc != 0)
        rules_drop(old->pc);
    old->pc = 0;
}

/* Remember the code that the rule for PC is from. */
static void
watch(uint64_t pc, uint64_t from, size_t length)
{
    if (watched == NULL)
        watched = sys_reserve(WATCHED * sizeof(*watched));
    if (watched == NULL)
        return;
    struct watched *new = &watched[next_watched++ % WATCHED];
    forget(new);
    new->pc = pc;
    new->from = from;
    new->length = (uint8_t)length;
    memcpy(new->code, bytes, length);
}

void
untabled_settle(uint64_t now)
{
    uint8_t code[GENERATED_REACH];
    uint32_t count = next_watched < WATCHED ? next_watched : WATCHED;
    if (count == 0 || now < settle_at)
        return;
    settle_at = now + SETTLE_NS;
    for (uint32_t i = 0; i < SETTLE_COUNT && i < count; i++) {
        struct watched *old = &watched[next_settled++ % count];
        if (old->pc != 0 && (sys_read_present(code, old->from, old->length) !=
                                 (long)old->length ||
                             memcmp(code, old->code, old->length) != 0))
            forget(old);
    }
}

void
untabled_decide(uint64_t pc, bool is_generated, struct rule rule)
{
    struct untabled code = {.pc = pc,
                            .start = pc & ~4095ull,
                            .end = (pc | 4095) + 1,
                            .is_generated = is_generated};
    if (is_generated)
        watch(pc, pc, read_code(&code, pc, GENERATED_REACH));
    rules_put(pc, rule);
}

/* Code that may change: only what can be seen at one look is believed, and only
 * where no frame pointer is kept. */
static struct rule
put_generated(const struct untabled *code, uint64_t from)
{
    struct epilogue epilogue;
    size_t length = read_code(code, from, GENERATED_REACH);
    if (epilogue_read(bytes, length, EPILOGUE_STRAIGHT, from, NULL,
                      &epilogue) &&
        rule_cfa(epilogue.rule) == RULE_CFA_SP &&
        rule_fp(epilogue.rule) == RULE_FP_SAME) {
        watch(code->pc, from, length);
        return epilogue.rule;
    }
    rules_put_row(code->pc, code->start, code->end, rule_chain(0));
    return rule_chain(0);
}

/* Code that is called; in a file, where it does not change. */
static size_t
read_callee(uint64_t address, uint8_t *to, size_t limit)
{
    if (modules_code_kind(address) != CODE_MODULE)
        return 0;
    long got = sys_read_memory(to, address, limit);
    return got > 0 ? (size_t)got : 0;
}

struct rule
untabled_put(const struct untabled *code)
{
    struct epilogue epilogue;
    uint64_t from = code->pc + code->is_return;
    if (code->is_generated)
        return put_generated(code, from);
    size_t length = read_code(code, from, EPILOGUE_REACH);
    if (epilogue_read(bytes, length, EPILOGUE_BRANCHED, from, read_callee,
                      &epilogue)) {
        rules_put_row(code->pc, code->pc, from + epilogue.same, epilogue.rule);
        return epilogue.rule;
    }
    struct rule chain = rule_chain(code->is_go ? RULE_CHAIN_ROOTED : 0);
    uint64_t start = code->pc & -(uint64_t)SILENT_ROW, end = start + SILENT_ROW;
    rules_put_row(code->pc, start < code->start ? code->start : start,
                  end > code->end ? code->end : end, chain);
    return chain;
}
