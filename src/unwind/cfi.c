/* SPDX-License-Identifier: MIT */
/*
 * cfi.c -- see cfi.h. It runs on the sampler thread, also while a thread is
 * parked. It reads the table as foreign bytes: every length is bounded, and
 * what is not understood gives no answer.
 *
 * Of a row it follows three things: the CFA, where the caller's fp is, and
 * whether the return address is where a call puts it. Each is a state that is
 * known, or is OTHER.
 */
#include <string.h>

#include "base/arch.h"
#include "cfi_bytes.h"
#include "cie.h"
#include "pages.h"
#include "cfi.h"
#include "base/poison.h"

/* Operations of an expression: the register R plus a number, and the word
 * there. */
#define OP_BREG_FP (0x70 + ARCH_FP)
#define OP_DEREF 0x06

/* The CFA in a PLT, whose stubs have STUB bytes: sp + 8, and 8 more from
 * byte N of a stub on. The linker writes it as breg7 8, breg16 0, lit15, and,
 * litN, ge, lit3, shl, plus. The operation litN is at STUB_LIT. */
#define STUB 16u
#define STUB_LIT 6u
#define OP_LIT0 0x30
static const uint8_t stub_cfa[] = {0x77, 0x08, 0x80, 0x00, 0x3f, 0x1a,
                                   0,    0x2a, 0x33, 0x24, 0x22};

/* Where the caller's value of a register is. */
enum place { SAME, AT_CFA, AT_FP, UNDEFINED, OTHER };
struct saved {
    enum place place;
    int64_t offset;
};

/* The content of a row. */
struct state {
    enum { CFA_BY_SP, CFA_BY_FP, CFA_BY_FP_DEREF, CFA_OF_STUB, CFA_OTHER } cfa;
    int64_t offset; /* of CFA_OF_STUB: N */
    struct saved fp, pc;
};

/* A CIE, and the state that its instructions make. */
struct start {
    uint64_t stamp, address; /* of the pages that it was read from */
    struct cie cie;
    struct state initial;
};

/* The rows that a caller of cfi_rows wants, and the function that is called for
 * each. */
struct visitor {
    uint64_t from, until;
    void (*visit)(void *to, const struct cfi_row *row);
    void *to;
};

/* A run of the instructions of the FDE at ADDRESS. It ends where a piece of
 * code ends, and goes on from there for the next piece. Large functions have
 * many pieces: beside cc1, all runs from the start read three times as much. */
struct run {
    uint64_t stamp, address; /* of the pages, and of the FDE */
    uint64_t at;             /* where the present row begins */
    size_t next;             /* the next instruction, after the length */
    unsigned depth;
    struct state state, states[STATES_MAX];
};

/* The register in STATE whose place is followed; NULL for all others. */
static inline struct saved *
saved_of(struct state *state, uint64_t number)
{
    if (number == ARCH_FP)
        return &state->fp;
    return number == ARCH_RETURN ? &state->pc : NULL;
}

static void
save(struct state *state, uint64_t number, enum place place, int64_t offset)
{
    struct saved *saved = saved_of(state, number);
    if (saved != NULL)
        *saved = (struct saved){place, offset};
}

static void
restore(struct state *state, uint64_t number, const struct start *start)
{
    struct state initial = start->initial;
    const struct saved *before = saved_of(&initial, number);
    if (before != NULL)
        *saved_of(state, number) = *before;
}

static void
define_by(struct state *state, uint64_t number)
{
    if (number == ARCH_SP)
        state->cfa = CFA_BY_SP;
    else
        state->cfa = number == ARCH_FP ? CFA_BY_FP : CFA_OTHER;
}

/* Take an expression. Returns whether it is fp plus *OFFSET, and the word there
 * if IS_DEREF. */
static bool
take_expression(struct bytes *bytes, bool is_deref, int64_t *offset)
{
    uint64_t length = take_unsigned(bytes);
    struct bytes inner = {bytes->at, bytes->at, false};
    skip_bytes(bytes, length);
    if (bytes->bad || length == 0)
        return false;
    inner.end = bytes->at;
    if (take_byte(&inner) != OP_BREG_FP)
        return false;
    *offset = take_signed(&inner);
    if (is_deref && take_byte(&inner) != OP_DEREF)
        return false;
    return !inner.bad && inner.at == inner.end;
}

/* Take the expression of a PLT. Returns false if it is another one. */
static bool
take_stub(struct bytes *bytes, int64_t *byte)
{
    uint8_t code[sizeof(stub_cfa)];
    struct bytes inner = *bytes;
    if (take_unsigned(&inner) != sizeof(code) ||
        (size_t)(inner.end - inner.at) < sizeof(code))
        return false;
    memcpy(code, inner.at, sizeof(code));
    *byte = code[STUB_LIT] - OP_LIT0;
    code[STUB_LIT] = 0;
    if (memcmp(code, stub_cfa, sizeof(code)) != 0 || *byte < 0 ||
        *byte >= (int64_t)STUB)
        return false;
    bytes->at = inner.at + sizeof(code);
    return true;
}

static void
define_by_expression(struct state *state, struct bytes *bytes)
{
    if (take_stub(bytes, &state->offset)) {
        state->cfa = CFA_OF_STUB;
        return;
    }
    state->cfa = take_expression(bytes, true, &state->offset) ? CFA_BY_FP_DEREF
                                                              : CFA_OTHER;
}

static void
save_by_expression(struct state *state, struct bytes *bytes)
{
    uint64_t number = take_unsigned(bytes);
    int64_t offset = 0;
    bool is_known = take_expression(bytes, false, &offset);
    save(state, number, is_known ? AT_FP : OTHER, offset);
}

/* Carry out an instruction that defines the CFA. Returns false if OPCODE is
 * another one. */
static bool
define_cfa(struct bytes *bytes, unsigned opcode, struct state *state,
           const struct start *start)
{
    switch (opcode) {
    case CFA_DEF:
        define_by(state, take_unsigned(bytes));
        state->offset = (int64_t)take_unsigned(bytes);
        break;
    case CFA_DEF_SF:
        define_by(state, take_unsigned(bytes));
        state->offset = take_signed(bytes) * start->cie.data_align;
        break;
    case CFA_DEF_REGISTER:
        define_by(state, take_unsigned(bytes));
        break;
    case CFA_DEF_OFFSET:
        state->offset = (int64_t)take_unsigned(bytes);
        break;
    case CFA_DEF_OFFSET_SF:
        state->offset = take_signed(bytes) * start->cie.data_align;
        break;
    case CFA_DEF_EXPRESSION:
        define_by_expression(state, bytes);
        break;
    default:
        return false;
    }
    return true;
}

/* Carry out an instruction that says where a register is. Returns false if its
 * meaning is not known. */
static bool
place_register(struct bytes *bytes, unsigned opcode, struct state *state,
               const struct start *start)
{
    uint64_t number;
    switch (opcode) {
    case CFA_OFFSET_EXTENDED:
        number = take_unsigned(bytes);
        save(state, number, AT_CFA,
             (int64_t)take_unsigned(bytes) * start->cie.data_align);
        break;
    case CFA_OFFSET_EXTENDED_SF:
        number = take_unsigned(bytes);
        save(state, number, AT_CFA, take_signed(bytes) * start->cie.data_align);
        break;
    case CFA_RESTORE_EXTENDED:
        restore(state, take_unsigned(bytes), start);
        break;
    case CFA_UNDEFINED:
        save(state, take_unsigned(bytes), UNDEFINED, 0);
        break;
    case CFA_SAME_VALUE:
        save(state, take_unsigned(bytes), SAME, 0);
        break;
    case CFA_REGISTER:
    case CFA_VAL_OFFSET:
    case CFA_VAL_OFFSET_SF:
        save(state, take_unsigned(bytes), OTHER, 0);
        take_unsigned(bytes);
        break;
    case CFA_EXPRESSION:
        save_by_expression(state, bytes);
        break;
    case CFA_VAL_EXPRESSION:
        save(state, take_unsigned(bytes), OTHER, 0);
        skip_bytes(bytes, take_unsigned(bytes));
        break;
    case CFA_ARGS_SIZE:
        take_unsigned(bytes);
        break;
    default:
        return opcode == CFA_NOP || rule_bits_ignore(opcode);
    }
    return true;
}

/* Carry out the instruction OPCODE, which is no advance. Returns false if its
 * meaning is not known. */
static bool
carry_out(struct bytes *bytes, unsigned opcode, struct state *state,
          const struct start *start)
{
    unsigned high = opcode & 0xc0, number = opcode & 0x3f;
    if (high == CFA_RESTORE)
        restore(state, number, start);
    else if (high == CFA_OFFSET)
        save(state, number, AT_CFA,
             (int64_t)take_unsigned(bytes) * start->cie.data_align);
    else if (!define_cfa(bytes, opcode, state, start))
        return place_register(bytes, opcode, state, start);
    return true;
}

/* The rule that STATE makes; RULE_NONE if no form of a rule fits. */
static struct rule
rule_of(const struct state *state)
{
    static const enum rule_cfa bases[] = {RULE_CFA_SP, RULE_CFA_FP,
                                          RULE_CFA_FP_DEREF};
    static const enum rule_fp places[] = {RULE_FP_SAME, RULE_FP_AT_CFA,
                                          RULE_FP_AT_FP};
    struct rule rule;
    uint64_t bits;
    if (state->pc.place == UNDEFINED)
        return rule_make(RULE_ROOT);
    int64_t cfa = state->offset, saved = state->pc.offset;
    bool is_saved = state->pc.place == AT_CFA;
    rule_bits_correct(&cfa, &saved);
    if (state->cfa >= CFA_OF_STUB || state->fp.place > AT_FP ||
        state->pc.place > AT_CFA ||
        !rule_bits_of_return(is_saved, saved, &bits) || cfa > RULE_OFFSET_MAX ||
        cfa < -RULE_OFFSET_MAX || !rule_bits_fit(state->fp.offset))
        return rule_make(RULE_NONE);
    rule = rule_frame(bases[state->cfa], (int32_t)cfa, places[state->fp.place],
                      (int32_t)state->fp.offset);
    return (struct rule){rule.word | bits};
}

/* Read the CIE at ADDRESS, and run its instructions. A signal frame has rules
 * of its own. */
static bool
begin_at_cie(struct pages *pages, uint64_t address, struct start *start)
{
    struct cie *cie = &start->cie;
    if (!cie_read(pages, address, cie) || cie->is_signal ||
        cie->return_register != ARCH_RETURN)
        return false;
    const uint8_t *raw = pages_bytes(pages, cie->instructions, cie->length);
    if (raw == NULL)
        return false;
    struct bytes bytes = {raw, raw + cie->length, false};
    start->initial = (struct state){.cfa = CFA_OTHER};
    while (bytes.at < bytes.end && !bytes.bad) {
        unsigned opcode = (unsigned)take_byte(&bytes);
        if (!carry_out(&bytes, opcode, &start->initial, start))
            return false;
    }
    if (bytes.bad)
        return false;
    start->stamp = pages->stamp;
    start->address = address;
    return true;
}

/* Returns the state at the start of the functions of the CIE at ADDRESS; NULL
 * if it is not understood. Almost all FDEs of a module have the same CIE. */
static const struct start *
find_start(struct pages *pages, uint64_t address)
{
    static struct start last;
    if (last.stamp == pages->stamp && last.address == address)
        return &last;
    last.stamp = 0;
    return begin_at_cie(pages, address, &last) ? &last : NULL;
}

/* Visit the rows of STATE from AT to END - 1, which are in a PLT: each stub has
 * two. */
static void
visit_stubs(uint64_t at, uint64_t end, const struct state *state,
            const struct visitor *visitor)
{
    struct state half = *state;
    half.cfa = CFA_BY_SP;
    for (uint64_t next; at < end; at = next) {
        uint64_t stub = at & ~(uint64_t)(STUB - 1);
        bool is_late = at - stub >= (uint64_t)state->offset;
        half.offset = is_late ? 16 : 8;
        next = stub + (is_late ? STUB : (uint64_t)state->offset);
        next = next < end ? next : end;
        visitor->visit(visitor->to,
                       &(struct cfi_row){at, next, rule_of(&half)});
    }
}

/* Visit the row of STATE from AT to END - 1, unless it ends before the wanted
 * ones. */
static inline void
visit_row(uint64_t at, uint64_t end, const struct state *state,
          const struct visitor *visitor)
{
    if (end <= at || end <= visitor->from)
        return;
    if (state->cfa == CFA_OF_STUB)
        visit_stubs(at, end, state, visitor);
    else
        visitor->visit(visitor->to, &(struct cfi_row){at, end, rule_of(state)});
}

/* Begin RUN at the start of FDE. Its instructions follow a number in RAW, and
 * that many bytes of its augmentation. */
static bool
begin_run(struct run *run, const struct pages *pages, const struct fde *fde,
          const struct start *start, const uint8_t *raw, uint32_t length)
{
    struct bytes bytes = {raw + FDE_HEAD, raw + length, false};
    skip_bytes(&bytes, take_unsigned(&bytes));
    run->stamp = pages->stamp;
    run->address = fde->address;
    run->at = fde->start;
    run->next = (size_t)(bytes.at - raw);
    run->depth = 0;
    run->state = start->initial;
    return !bytes.bad;
}

/* Carry out OPCODE, which is no advance. Returns false if its meaning is not
 * known. */
static bool
change_state(struct run *run, struct bytes *bytes, unsigned opcode,
             const struct start *start)
{
    if (opcode == CFA_REMEMBER && run->depth < STATES_MAX)
        run->states[run->depth++] = run->state;
    else if (opcode == CFA_RECALL && run->depth > 0)
        run->state = run->states[--run->depth];
    else
        return opcode != CFA_REMEMBER && opcode != CFA_RECALL &&
               carry_out(bytes, opcode, &run->state, start);
    return true;
}

/* Carry out OPCODE if it is one of the two by which most rows differ, with an
 * operand of one byte: a definition of the CFA's offset, or the place of a
 * register that is not followed. Returns false otherwise. */
static inline bool
change_simply(struct bytes *bytes, unsigned opcode, struct state *state)
{
    if (bytes->at == bytes->end || *bytes->at >= 128)
        return false;
    if (opcode == CFA_DEF_OFFSET)
        state->offset = *bytes->at;
    else if ((opcode & 0xc0) != CFA_OFFSET ||
             saved_of(state, opcode & 0x3f) != NULL)
        return false;
    bytes->at++;
    return true;
}

/* Go on with RUN of FDE, whose bytes from its CIE pointer on are RAW, up to the
 * row that reaches the end of the wanted rows of VISITOR. RUN then stands at
 * the beginning of that row. */
static bool
run_rows(struct run *run, const struct start *start, const struct fde *fde,
         const uint8_t *raw, uint32_t length, const struct visitor *visitor)
{
    struct bytes bytes = {raw + run->next, raw + length, false};
    uint64_t advance;
    while (bytes.at < bytes.end && !bytes.bad) {
        const uint8_t *instruction = bytes.at;
        unsigned opcode = (unsigned)take_byte(&bytes);
        if (!take_advance(&bytes, opcode, &advance)) {
            if (!change_simply(&bytes, opcode, &run->state) &&
                !change_state(run, &bytes, opcode, start))
                return false;
            continue;
        }
        uint64_t end = run->at + advance * start->cie.code_align;
        if (end > fde->end || bytes.bad)
            return false;
        visit_row(run->at, end, &run->state, visitor);
        if (end >= visitor->until) {
            run->next = (size_t)(instruction - raw);
            return true;
        }
        run->at = end;
    }
    run->next = length;
    if (bytes.bad)
        return false;
    visit_row(run->at, fde->end, &run->state, visitor);
    return true;
}

bool
cfi_rows(struct pages *pages, const struct fde *fde, uint64_t from,
         uint64_t until, void (*visit)(void *to, const struct cfi_row *row),
         void *to)
{
    static struct run last;
    struct visitor visitor = {from, until, visit, to};
    uint64_t head; /* length, and the distance of the CIE */
    if (!pages_word(pages, fde->address, &head) || (uint32_t)head < FDE_HEAD)
        return false;
    uint32_t length = (uint32_t)head;
    const struct start *start =
        find_start(pages, fde->address + 4 - (head >> 32));
    const uint8_t *raw =
        start != NULL ? pages_bytes(pages, fde->address + 4, length) : NULL;
    if (raw == NULL)
        return false;
    bool goes_on = last.stamp == pages->stamp && last.address == fde->address &&
                   last.at <= from && last.next <= length;
    if ((goes_on || begin_run(&last, pages, fde, start, raw, length)) &&
        run_rows(&last, start, fde, raw, length, &visitor))
        return true;
    last.stamp = 0;
    return false;
}
