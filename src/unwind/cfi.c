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
#include "pages.h"
#include "cfi.h"
#include "base/poison.h"

/* The only encoding of pointers in FDEs that is read here (LSB, "DWARF
 * exception header encoding"). */
#define ENCODING_PCREL_SDATA4 0x1b

/* Limit of the states that the instructions of an FDE remember at a time. */
#define STATES_MAX 8

/* Bytes of an FDE from its CIE pointer to the number in front of the
 * augmentation: that pointer, start and size. */
#define FDE_HEAD 12u

/* Instructions by their high two bits, and by the whole byte. */
enum { CFA_ADVANCE = 0x40, CFA_OFFSET = 0x80, CFA_RESTORE = 0xc0 };
enum {
    CFA_NOP,
    CFA_SET_LOC,
    CFA_ADVANCE1,
    CFA_ADVANCE2,
    CFA_ADVANCE4,
    CFA_OFFSET_EXTENDED,
    CFA_RESTORE_EXTENDED,
    CFA_UNDEFINED,
    CFA_SAME_VALUE,
    CFA_REGISTER,
    CFA_REMEMBER,
    CFA_RECALL,
    CFA_DEF,
    CFA_DEF_REGISTER,
    CFA_DEF_OFFSET,
    CFA_DEF_EXPRESSION,
    CFA_EXPRESSION,
    CFA_OFFSET_EXTENDED_SF,
    CFA_DEF_SF,
    CFA_DEF_OFFSET_SF,
    CFA_VAL_OFFSET,
    CFA_VAL_OFFSET_SF,
    CFA_VAL_EXPRESSION,
    CFA_ARGS_SIZE = 0x2e,
};

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

/* What a row says. */
struct state {
    enum { CFA_BY_SP, CFA_BY_FP, CFA_BY_FP_DEREF, CFA_OF_STUB, CFA_OTHER } cfa;
    int64_t offset; /* of CFA_OF_STUB: N */
    struct saved fp, pc;
};

/* A cursor over bytes that were copied from the table. */
struct bytes {
    const uint8_t *at, *end;
    bool bad; /* ran over the end */
};

struct cie {
    uint64_t stamp, address; /* of the pages that it was read from */
    uint64_t code_align;
    int64_t data_align;
    struct state initial;
};

/* The rows that a caller of cfi_rows asks for, and the function that is called
 * for each of them. */
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
    size_t next;             /* the next instruction, behind the length */
    unsigned depth;
    struct state state, states[STATES_MAX];
};

static inline uint8_t
take_byte(struct bytes *bytes)
{
    if (bytes->at == bytes->end) {
        bytes->bad = true;
        return 0;
    }
    return *bytes->at++;
}

/* Take a number of SIZE bytes, of which the first is the lowest. */
static inline uint64_t
take_bytes(struct bytes *bytes, unsigned size)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < size; i++)
        value |= (uint64_t)take_byte(bytes) << 8 * i;
    return value;
}

/* Take a LEB128 number. *SHIFT becomes how many bits it has. */
static uint64_t
take_bits(struct bytes *bytes, unsigned *shift)
{
    uint64_t value = 0, byte;
    *shift = 0;
    do {
        byte = take_byte(bytes);
        if (*shift < 64)
            value |= (byte & 127) << *shift;
        *shift += 7;
    } while ((byte & 128) != 0 && !bytes->bad);
    return value;
}

static uint64_t
take_unsigned(struct bytes *bytes)
{
    unsigned shift;
    return take_bits(bytes, &shift);
}

static int64_t
take_signed(struct bytes *bytes)
{
    unsigned shift;
    uint64_t value = take_bits(bytes, &shift);
    if (shift < 64 && (value >> (shift - 1) & 1) != 0)
        value |= ~0ull << shift;
    return (int64_t)value;
}

static void
skip_bytes(struct bytes *bytes, uint64_t size)
{
    if ((uint64_t)(bytes->end - bytes->at) < size)
        bytes->bad = true;
    else
        bytes->at += size;
}

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
restore(struct state *state, uint64_t number, const struct cie *cie)
{
    struct state initial = cie->initial;
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
           const struct cie *cie)
{
    switch (opcode) {
    case CFA_DEF:
        define_by(state, take_unsigned(bytes));
        state->offset = (int64_t)take_unsigned(bytes);
        break;
    case CFA_DEF_SF:
        define_by(state, take_unsigned(bytes));
        state->offset = take_signed(bytes) * cie->data_align;
        break;
    case CFA_DEF_REGISTER:
        define_by(state, take_unsigned(bytes));
        break;
    case CFA_DEF_OFFSET:
        state->offset = (int64_t)take_unsigned(bytes);
        break;
    case CFA_DEF_OFFSET_SF:
        state->offset = take_signed(bytes) * cie->data_align;
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
               const struct cie *cie)
{
    uint64_t number;
    switch (opcode) {
    case CFA_OFFSET_EXTENDED:
        number = take_unsigned(bytes);
        save(state, number, AT_CFA,
             (int64_t)take_unsigned(bytes) * cie->data_align);
        break;
    case CFA_OFFSET_EXTENDED_SF:
        number = take_unsigned(bytes);
        save(state, number, AT_CFA, take_signed(bytes) * cie->data_align);
        break;
    case CFA_RESTORE_EXTENDED:
        restore(state, take_unsigned(bytes), cie);
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
          const struct cie *cie)
{
    unsigned high = opcode & 0xc0, number = opcode & 0x3f;
    if (high == CFA_RESTORE)
        restore(state, number, cie);
    else if (high == CFA_OFFSET)
        save(state, number, AT_CFA,
             (int64_t)take_unsigned(bytes) * cie->data_align);
    else if (!define_cfa(bytes, opcode, state, cie))
        return place_register(bytes, opcode, state, cie);
    return true;
}

/* Read how far instruction OPCODE advances, in units of the code alignment.
 * Returns false if it is another instruction. */
static inline bool
take_advance(struct bytes *bytes, unsigned opcode, uint64_t *advance)
{
    if ((opcode & 0xc0) == CFA_ADVANCE)
        *advance = opcode & 0x3f;
    else if (opcode >= CFA_ADVANCE1 && opcode <= CFA_ADVANCE4)
        *advance = take_bytes(bytes, 1u << (opcode - CFA_ADVANCE1));
    else
        return false;
    return true;
}

/* The rule that STATE makes; RULE_NONE if no form of a rule can say it. */
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

/* Parse the parts of a CIE that rows depend on, and run its instructions. */
static bool
parse_cie(struct pages *pages, uint64_t address, struct cie *cie)
{
    uint8_t raw[128];
    uint32_t length;
    if (!pages_read(pages, address, &length, sizeof(length)) || length < 8 ||
        length > sizeof(raw) - 4 ||
        !pages_read(pages, address, raw, length + 4))
        return false;
    struct bytes bytes = {raw + 8, raw + 4 + length, false};
    uint64_t version = take_byte(&bytes);
    const char *augmentation = (const char *)bytes.at;
    size_t letters = strnlen(augmentation, (size_t)(bytes.end - bytes.at));
    if ((version != 1 && version != 3) || augmentation[0] != 'z')
        return false;
    skip_bytes(&bytes, letters + 1);
    *cie = (struct cie){.stamp = pages->stamp,
                        .address = address,
                        .code_align = take_unsigned(&bytes),
                        .data_align = take_signed(&bytes)};
    cie->initial.cfa = CFA_OTHER;
    uint64_t back = version == 1 ? take_byte(&bytes) : take_unsigned(&bytes);
    uint64_t skip = take_unsigned(&bytes);
    const uint8_t *instructions = bytes.at + skip;
    for (const char *c = augmentation + 1; *c != '\0' && !bytes.bad; c++) {
        /* A signal frame has rules of its own. */
        uint64_t encoding = *c == 'S' || *c == 'B' ? 0 : take_byte(&bytes);
        if (*c == 'S' || (*c == 'R' && encoding != ENCODING_PCREL_SDATA4))
            return false;
        if (*c == 'P')
            skip_bytes(&bytes, (encoding & 7) == 3 ? 4 : 8);
    }
    if (bytes.bad || back != ARCH_RETURN || instructions < bytes.at ||
        instructions > bytes.end)
        return false;
    bytes.at = instructions;
    while (bytes.at < bytes.end && !bytes.bad) {
        unsigned opcode = (unsigned)take_byte(&bytes);
        if (!carry_out(&bytes, opcode, &cie->initial, cie))
            return false;
    }
    return !bytes.bad;
}

/* Returns the CIE at ADDRESS; NULL if it is not understood. Nearly all FDEs of
 * a module have the same one. */
static const struct cie *
read_cie(struct pages *pages, uint64_t address)
{
    static struct cie last;
    if (last.stamp == pages->stamp && last.address == address)
        return &last;
    last.stamp = 0;
    struct cie cie;
    if (!parse_cie(pages, address, &cie))
        return NULL;
    last = cie;
    return &last;
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

/* Visit the row of STATE from AT to END - 1, unless it is in front of all that
 * is asked for. */
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
          const struct cie *cie, const uint8_t *raw, uint32_t length)
{
    struct bytes bytes = {raw + FDE_HEAD, raw + length, false};
    skip_bytes(&bytes, take_unsigned(&bytes));
    run->stamp = pages->stamp;
    run->address = fde->address;
    run->at = fde->start;
    run->next = (size_t)(bytes.at - raw);
    run->depth = 0;
    run->state = cie->initial;
    return !bytes.bad;
}

/* Carry out OPCODE, which is no advance. Returns false if its meaning is not
 * known. */
static bool
change_state(struct run *run, struct bytes *bytes, unsigned opcode,
             const struct cie *cie)
{
    if (opcode == CFA_REMEMBER && run->depth < STATES_MAX)
        run->states[run->depth++] = run->state;
    else if (opcode == CFA_RECALL && run->depth > 0)
        run->state = run->states[--run->depth];
    else
        return opcode != CFA_REMEMBER && opcode != CFA_RECALL &&
               carry_out(bytes, opcode, &run->state, cie);
    return true;
}

/* Carry out OPCODE if it is one of the two that most rows differ by, and its
 * operand has one byte: a definition of the CFA's offset, and the place of a
 * register that is not followed. Returns false if it is not. */
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
 * row that reaches the end of what VISITOR asks for. RUN then stands at the
 * beginning of that row. */
static bool
run_rows(struct run *run, const struct cie *cie, const struct fde *fde,
         const uint8_t *raw, uint32_t length, const struct visitor *visitor)
{
    struct bytes bytes = {raw + run->next, raw + length, false};
    uint64_t advance;
    while (bytes.at < bytes.end && !bytes.bad) {
        const uint8_t *instruction = bytes.at;
        unsigned opcode = (unsigned)take_byte(&bytes);
        if (!take_advance(&bytes, opcode, &advance)) {
            if (!change_simply(&bytes, opcode, &run->state) &&
                !change_state(run, &bytes, opcode, cie))
                return false;
            continue;
        }
        uint64_t end = run->at + advance * cie->code_align;
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
    const struct cie *cie = read_cie(pages, fde->address + 4 - (head >> 32));
    const uint8_t *raw =
        cie != NULL ? pages_bytes(pages, fde->address + 4, length) : NULL;
    if (raw == NULL)
        return false;
    bool goes_on = last.stamp == pages->stamp && last.address == fde->address &&
                   last.at <= from && last.next <= length;
    if ((goes_on || begin_run(&last, pages, fde, cie, raw, length)) &&
        run_rows(&last, cie, fde, raw, length, &visitor))
        return true;
    last.stamp = 0;
    return false;
}
