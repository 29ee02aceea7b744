/* SPDX-License-Identifier: MIT */
/*
 * hard.c -- see hard.h. It runs on the sampler thread, also while a thread is
 * parked. The table and all that its expressions read are foreign: every read
 * goes through a page cache or a view, and what is not understood gives no
 * answer.
 */
#include <stddef.h>

#include "base/sys.h"
#include "process/modules.h"
#include "cfi_bytes.h"
#include "cie.h"
#include "expression.h"
#include "pages.h"
#include "hard.h"
#include "base/poison.h"

/* The place of the caller's value of a register (DWARF 5, section 6.4.1), or of
 * the CFA. */
enum kind {
    KEPT,        /* in the register itself */
    LOST,        /* nowhere */
    AT_CFA,      /* at CFA + VALUE */
    CFA_PLUS,    /* It is CFA + VALUE. */
    IN_REGISTER, /* It is register NUMBER + VALUE. */
    AT_RESULT,   /* at the address that an expression makes */
    IS_RESULT    /* It is the result of an expression. */
};
struct place {
    int64_t value;   /* of an expression: its address */
    uint16_t number; /* of an expression: its length */
    uint8_t kind;
};

struct row {
    struct place cfa, at[ARCH_REGISTERS];
};

/* The present row, which is too large for a small stack. */
struct making {
    struct row row, initial, states[STATES_MAX];
    unsigned depth;
    const struct cie *cie;
    uint64_t at, pc;
    struct bytes bytes;
    uint64_t end; /* address of the end of BYTES */
};
static struct making *making;

/* A frame that is undone. */
struct step {
    struct pages *pages;
    struct view *view;
    const struct hard_registers *registers;
};

int
hard_begin(void)
{
    making = sys_renew(making, sizeof(*making));
    return making != NULL ? 0 : -1;
}

static bool
get_register(void *from, uint64_t number, uint64_t *value)
{
    const struct step *step = from;
    if (number >= ARCH_REGISTERS || (step->registers->known >> number & 1) == 0)
        return false;
    *value = step->registers->registers.at[number];
    return true;
}

/* Read a word of the stack, or of a module. A stack may lie in a module, and be
 * a copy. */
static bool
read_word(void *from, uint64_t address, uint64_t *word)
{
    const struct step *step = from;
    const struct view *view = step->view;
    bool is_copied = address >= view->window_start &&
                     address + sizeof(*word) <= view->window_end;
    if (!is_copied && (modules_holds(address) || modules_code_kind(address)))
        return pages_read(step->pages, address, word, sizeof(*word));
    return view_read(step->view, address, word);
}

/* Take an expression, whose place is of KIND. */
static struct place
take_expression(struct making *made, enum kind kind)
{
    uint64_t length = take_unsigned(&made->bytes);
    uint64_t left = (uint64_t)(made->bytes.end - made->bytes.at);
    struct place place = {.value = (int64_t)(made->end - left),
                          .number = (uint16_t)length,
                          .kind = (uint8_t)kind};
    skip_bytes(&made->bytes, length);
    made->bytes.bad |= length > EXPRESSION_MAX;
    return place;
}

/* Registers of vectors and the like are not followed. */
static void
put(struct making *made, uint64_t number, struct place place)
{
    if (number < ARCH_REGISTERS)
        made->row.at[number] = place;
}

/* Carry out OPCODE if it defines the CFA. */
static bool
define_cfa(struct making *made, unsigned opcode)
{
    struct bytes *bytes = &made->bytes;
    struct place *cfa = &made->row.cfa;
    int64_t scale = made->cie->data_align;
    switch (opcode) {
    case CFA_DEF:
    case CFA_DEF_SF:
    case CFA_DEF_REGISTER:
        cfa->kind = IN_REGISTER;
        cfa->number = (uint16_t)take_unsigned(bytes);
        if (opcode == CFA_DEF)
            cfa->value = (int64_t)take_unsigned(bytes);
        else if (opcode == CFA_DEF_SF)
            cfa->value = take_signed(bytes) * scale;
        return true;
    case CFA_DEF_OFFSET:
        cfa->value = (int64_t)take_unsigned(bytes);
        return cfa->kind == IN_REGISTER;
    case CFA_DEF_OFFSET_SF:
        cfa->value = take_signed(bytes) * scale;
        return cfa->kind == IN_REGISTER;
    case CFA_DEF_EXPRESSION:
        *cfa = take_expression(made, IS_RESULT);
        return true;
    }
    return false;
}

/* Carry out OPCODE if it gives the place of a register. */
static bool
place_register(struct making *made, unsigned opcode)
{
    struct bytes *bytes = &made->bytes;
    int64_t scale = made->cie->data_align;
    if (opcode < CFA_OFFSET_EXTENDED || opcode > CFA_VAL_EXPRESSION ||
        opcode == CFA_REMEMBER || opcode == CFA_RECALL)
        return false;
    uint64_t number = take_unsigned(bytes);
    struct place place = {.kind = KEPT};
    switch (opcode) {
    case CFA_OFFSET_EXTENDED:
        place.kind = AT_CFA;
        place.value = (int64_t)take_unsigned(bytes) * scale;
        break;
    case CFA_OFFSET_EXTENDED_SF:
        place.kind = AT_CFA;
        place.value = take_signed(bytes) * scale;
        break;
    case CFA_VAL_OFFSET:
        place.kind = CFA_PLUS;
        place.value = (int64_t)take_unsigned(bytes) * scale;
        break;
    case CFA_VAL_OFFSET_SF:
        place.kind = CFA_PLUS;
        place.value = take_signed(bytes) * scale;
        break;
    case CFA_RESTORE_EXTENDED:
        if (number < ARCH_REGISTERS)
            place = made->initial.at[number];
        break;
    case CFA_UNDEFINED:
        place.kind = LOST;
        break;
    case CFA_SAME_VALUE:
        break;
    case CFA_REGISTER:
        place.kind = IN_REGISTER;
        place.number = (uint16_t)take_unsigned(bytes);
        break;
    case CFA_EXPRESSION:
        place = take_expression(made, AT_RESULT);
        break;
    case CFA_VAL_EXPRESSION:
        place = take_expression(made, IS_RESULT);
        break;
    }
    put(made, number, place);
    return true;
}

/* Carry out OPCODE, which is no advance. Returns false if its meaning is not
 * known. */
static bool
carry_out(struct making *made, unsigned opcode)
{
    unsigned high = opcode & 0xc0, number = opcode & 0x3f;
    if (high == CFA_OFFSET) {
        int64_t offset =
            (int64_t)take_unsigned(&made->bytes) * made->cie->data_align;
        put(made, number, (struct place){.kind = AT_CFA, .value = offset});
    } else if (high == CFA_RESTORE) {
        if (number < ARCH_REGISTERS)
            made->row.at[number] = made->initial.at[number];
    } else if (opcode == CFA_REMEMBER) {
        if (made->depth == STATES_MAX)
            return false;
        made->states[made->depth++] = made->row;
    } else if (opcode == CFA_RECALL) {
        if (made->depth == 0)
            return false;
        made->row = made->states[--made->depth];
    } else if (opcode == CFA_ARGS_SIZE) {
        take_unsigned(&made->bytes);
    } else {
        return opcode == CFA_NOP || rule_bits_ignore(opcode) ||
               define_cfa(made, opcode) || place_register(made, opcode);
    }
    return true;
}

/* Run the instructions in the LENGTH bytes at RAW, which are a copy of those at
 * ADDRESS, up to the row of PC. */
static bool
run_instructions(struct making *made, const uint8_t *raw, uint64_t address,
                 size_t length)
{
    struct bytes *bytes = &made->bytes;
    uint64_t advance;
    *bytes = (struct bytes){raw, raw + length, false};
    made->end = address + length;
    while (bytes->at < bytes->end && !bytes->bad) {
        unsigned opcode = take_byte(bytes);
        if (take_advance(bytes, opcode, &advance)) {
            made->at += advance * made->cie->code_align;
            if (made->at > made->pc)
                break;
        } else if (!carry_out(made, opcode)) {
            return false;
        }
    }
    return !bytes->bad;
}

/* Make the row of FDE that holds PC. */
static bool
make_row(struct pages *pages, const struct fde *fde, uint64_t pc,
         struct cie *cie)
{
    struct making *made = making;
    uint64_t head; /* length, and the distance of the CIE */
    if (!pages_word(pages, fde->address, &head) || (uint32_t)head < FDE_HEAD ||
        !cie_read(pages, fde->address + 4 - (head >> 32), cie))
        return false;
    const uint8_t *raw = pages_bytes(pages, cie->instructions, cie->length);
    made->row = (struct row){.cfa.kind = LOST};
    made->depth = 0;
    made->cie = cie;
    made->at = fde->start;
    made->pc = pc;
    if (raw == NULL ||
        !run_instructions(made, raw, cie->instructions, cie->length))
        return false;
    made->initial = made->row;
    uint32_t length = (uint32_t)head;
    raw = pages_bytes(pages, fde->address + 4, length);
    if (raw == NULL)
        return false;
    struct bytes bytes = {raw + FDE_HEAD, raw + length, false};
    skip_bytes(&bytes, take_unsigned(&bytes)); /* the augmentation */
    size_t skipped = (size_t)(bytes.at - raw);
    return !bytes.bad &&
           run_instructions(made, bytes.at, fde->address + 4 + skipped,
                            length - skipped);
}

/* Evaluate the expression of PLACE. */
static bool
evaluate(struct step *step, const struct place *place, const uint64_t *first,
         uint64_t *result)
{
    uint8_t code[EXPRESSION_MAX];
    const struct expression_source source = {read_word, get_register, step};
    return pages_read(step->pages, (uint64_t)place->value, code,
                      place->number) &&
           expression_run(code, place->number, &source, first, result);
}

/* Find register NUMBER by PLACE, in a frame with this CFA. */
static bool
find_value(struct step *step, const struct place *place, unsigned number,
           uint64_t cfa, uint64_t *value)
{
    uint64_t offset = (uint64_t)place->value;
    switch ((enum kind)place->kind) {
    case KEPT:
        if (number == ARCH_SP) {
            *value = cfa;
            return true;
        }
        return get_register(step, number, value);
    case AT_CFA:
        return read_word(step, cfa + offset, value);
    case CFA_PLUS:
        *value = cfa + offset;
        return true;
    case IN_REGISTER:
        return get_register(step, place->number, value);
    case AT_RESULT:
        return evaluate(step, place, &cfa, value) &&
               read_word(step, *value, value);
    case IS_RESULT:
        return evaluate(step, place, &cfa, value);
    case LOST:
        break;
    }
    return false;
}

/* Find the CFA by PLACE. */
static bool
find_cfa(struct step *step, const struct place *place, uint64_t *cfa)
{
    if (place->kind == IS_RESULT)
        return evaluate(step, place, NULL, cfa);
    if (place->kind != IN_REGISTER || !get_register(step, place->number, cfa))
        return false;
    *cfa += (uint64_t)place->value;
    return true;
}

static void
set(struct hard_registers *registers, unsigned number, uint64_t value)
{
    registers->registers.at[number] = value;
    registers->known |= 1ull << number;
}

/* Undo a frame whose row is made. */
static enum hard_outcome
undo_row(struct step *step, const struct row *row, const struct cie *cie,
         struct hard_registers *caller)
{
    uint64_t cfa, value;
    uint64_t number = cie->return_register;
    if (number >= ARCH_REGISTERS || !find_cfa(step, &row->cfa, &cfa))
        return HARD_FAILED;
    if (row->at[number].kind == LOST)
        return HARD_ROOT;
    caller->known = 0;
    for (unsigned i = 0; i < ARCH_REGISTERS; i++)
        if (find_value(step, &row->at[i], i, cfa, &value))
            set(caller, i, value);
    if ((caller->known >> number & 1) == 0 ||
        (caller->known >> ARCH_SP & 1) == 0)
        return HARD_FAILED;
    set(caller, ARCH_PC, arch_code(caller->registers.at[number]));
    /* The call has overwritten the register of its return address. */
    if (ARCH_HAS_LINK && !cie->is_signal)
        caller->known &= ~(1ull << ARCH_RETURN);
    if (caller->registers.at[ARCH_PC] == 0)
        return HARD_ROOT;
    return cie->is_signal ? HARD_CAUGHT : HARD_ON;
}

enum hard_outcome
hard_by_table(struct pages *pages, const struct fde *fde, uint64_t pc,
              struct view *view, struct hard_registers *registers)
{
    const struct hard_registers callee = *registers;
    struct step step = {pages, view, &callee};
    struct cie cie;
    if (!make_row(pages, fde, pc, &cie))
        return HARD_FAILED;
    return undo_row(&step, &making->row, &cie, registers);
}

/* Undo a signal frame, which has all registers. */
static enum hard_outcome
undo_signal(struct view *view, struct hard_registers *registers)
{
    uint64_t sp = registers->registers.at[ARCH_SP], value;
    for (unsigned i = 0; i < ARCH_REGISTERS; i++) {
        if (!view_read(view, sp + arch_signal_offset(i), &value))
            return HARD_FAILED;
        set(registers, i, value);
    }
    return HARD_CAUGHT;
}

/* Undo a frame without a table by RULE, which its code shows. */
static enum hard_outcome
undo_frame(struct rule rule, struct view *view,
           struct hard_registers *registers)
{
    struct hard_registers callee = *registers;
    struct step step = {NULL, view, &callee};
    unsigned base = rule_cfa(rule) == RULE_CFA_FP ? ARCH_FP : ARCH_SP;
    uint64_t cfa, pc, fp;
    if (rule_cfa(rule) > RULE_CFA_FP || rule_fp(rule) == RULE_FP_AT_FP ||
        !get_register(&step, base, &cfa))
        return HARD_FAILED;
    cfa += (uint64_t)rule_cfa_offset(rule);
    if (rule_is_linked(rule)
            ? !get_register(&step, ARCH_RETURN, &pc)
            : !view_read(view, rule_return_slot(rule, cfa), &pc))
        return HARD_FAILED;
    /* The code may have changed the others. */
    registers->known &= 1ull << ARCH_FP;
    if (rule_fp(rule) == RULE_FP_LOST || rule_fp(rule) == RULE_FP_AT_CFA)
        registers->known = 0;
    if (rule_fp(rule) == RULE_FP_AT_CFA &&
        view_read(view, cfa + (uint64_t)rule_fp_offset(rule), &fp))
        set(registers, ARCH_FP, fp);
    set(registers, ARCH_SP, cfa);
    set(registers, ARCH_PC, arch_code(pc));
    return arch_code(pc) == 0 ? HARD_ROOT : HARD_ON;
}

enum hard_outcome
hard_by_rule(struct rule rule, struct view *view,
             struct hard_registers *registers)
{
    switch (rule_kind(rule)) {
    case RULE_SIGNAL:
        return undo_signal(view, registers);
    case RULE_CHAIN:
        rule = rule_frame(RULE_CFA_FP, 16, RULE_FP_AT_CFA, -16);
        return undo_frame(rule, view, registers);
    case RULE_FRAME:
        return undo_frame(rule, view, registers);
    case RULE_ROOT:
        return HARD_ROOT;
    default:
        return HARD_FAILED;
    }
}
