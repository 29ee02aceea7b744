/* SPDX-License-Identifier: MIT */
/*
 * code.c -- reads the code of a function; see code.h. Sampler thread; looks at
 * a copy, so that nothing can change under it.
 *
 * The hard thing is to be sure. A function is followed from its first byte to
 * its last, instruction by instruction; what the lengths below do not know ends
 * it. Saves and one fixed subtraction before the first jump make the frame;
 * arguments that are pushed later make its size a range; all else that moves
 * rsp, but for what gives the frame back, makes it unknown.
 */
#include <string.h>

#include "code.h"
#include "poison.h"

/* Lengths by opcode: '.' none, 'm' ModRM; an immediate of 1 byte 'b', 2 'w', 4
 * (2 after 66) 'z', 8 with REX.W 'v', always 8 'o'; with ModRM 'B' and 'Z'; 'g'
 * ModRM and an immediate if it is TEST. '?': not followed. Intel SDM, volume
 * 2, appendix A. */
static const char one_byte[] = "mmmmbz??mmmmbz??mmmmbz??mmmmbz??"
                               "mmmmbz??mmmmbz??mmmmbz??mmmmbz??"
                               "????????????????................"
                               "???m????zZbB....bbbbbbbbbbbbbbbb"
                               "BZ?Bmmmmmmmmmmmm..........?....."
                               "oooo....bz......bbbbbbbbvvvvvvvv"
                               "BBw.??BZ?.w..b?.mmmm???.mmmmmmmm"
                               "bbbbbbbbzz?b....?.??..gg......mm";
static const char two_bytes[] = "mmmm?.....?.?m??mmmmmmmmmmmmmmmm"
                                "mmmm????mmmmmmmm........????????"
                                "mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm"
                                "mmmmmmmmmmmmmmmmBBBBmmm.mmmmmmmm"
                                "zzzzzzzzzzzzzzzzmmmmmmmmmmmmmmmm"
                                "...mBm??...mBmmmmmmmmmmmmmBmmmmm"
                                "mmBmBBBm........mmmmmmmmmmmmmmmm"
                                "mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm";
_Static_assert(sizeof(one_byte) == 257 && sizeof(two_bytes) == 257,
               "a letter for each opcode");

#define RSP 4
#define RBP 5
/* Opcode maps as VEX numbers them. */
enum { MAP_ONE = 0, MAP_0F = 1, MAP_0F38 = 2, MAP_0F3A = 3 };

struct instruction {
    unsigned map, opcode;
    bool is_wide, is_short; /* REX.W; prefix 66 */
    bool is_vector;         /* VEX or EVEX: leaves rsp alone */
    char form;              /* letter of the tables */
    unsigned mod, reg, rm;  /* with the bits of REX */
    unsigned base;          /* of the memory operand; rm without one */
    int32_t immediate;
    size_t length;
};

static bool
is_prefix(uint8_t byte)
{
    return (byte & 0xfc) == 0x64 || (byte & 0xe7) == 0x26 || byte == 0xf0 ||
           byte == 0xf2 || byte == 0xf3;
}

/* Prefixes and opcode at CODE: up to 15 bytes, zeroes behind the end. Returns
 * the bytes up to ModRM; 0 if they are not followed. */
static size_t
read_opcode(const uint8_t *code, struct instruction *in, unsigned *rex)
{
    size_t at = 0;
    while (at < 8 && is_prefix(code[at]))
        in->is_short |= code[at++] == 0x66;
    *rex = 0;
    if ((code[at] & 0xf0) == 0x40)
        *rex = code[at++];
    in->is_wide = (*rex & 8) != 0;
    in->map = MAP_ONE;
    in->is_vector = false;
    if (code[at] == 0xc5 || code[at] == 0xc4 || code[at] == 0x62) {
        /* Registers beyond those of ModRM do not matter: none is rsp. */
        unsigned size = code[at] == 0xc5 ? 2 : code[at] == 0xc4 ? 3 : 4;
        in->map = size == 2 ? MAP_0F : code[at + 1] & (size == 3 ? 31u : 7u);
        in->is_vector = true;
        at += size;
    } else if (code[at] == 0x0f) {
        at++;
        in->map = code[at] == 0x38   ? MAP_0F38
                  : code[at] == 0x3a ? MAP_0F3A
                                     : MAP_0F;
        at += in->map != MAP_0F;
    }
    in->opcode = code[at];
    return at + 1;
}

static char
form_of(const struct instruction *in)
{
    switch (in->map) {
    case MAP_ONE:
        return one_byte[in->opcode];
    case MAP_0F:
        return two_bytes[in->opcode];
    case MAP_0F38:
        return 'm';
    case MAP_0F3A:
        return 'B';
    default: /* EVEX maps 5 and 6: half precision */
        return in->map == 5 || in->map == 6 ? 'm' : '?';
    }
}

/* ModRM, SIB and displacement at CODE. Returns their bytes. */
static size_t
read_operand(const uint8_t *code, unsigned rex, struct instruction *in)
{
    unsigned rm = code[0] & 7;
    size_t at = 1;
    in->mod = code[0] >> 6;
    in->reg = (code[0] >> 3 & 7) | (rex & 4) << 1;
    in->rm = in->base = rm | (rex & 1) << 3;
    if (in->mod == 3)
        return at;
    if (rm == RSP) {
        in->base = (code[1] & 7) | (rex & 1) << 3;
        rm = code[at++] & 7;
    }
    if (in->mod == 1)
        return at + 1;
    return at + (in->mod == 2 || rm == RBP ? 4 : 0);
}

static size_t
immediate_size(const struct instruction *in)
{
    size_t word = in->is_short && !in->is_wide ? 2 : 4;
    switch (in->form) {
    case 'b':
    case 'B':
        return 1;
    case 'w':
        return 2;
    case 'z':
    case 'Z':
        /* Of a jump or call: the prefix is ignored. */
        return in->opcode == 0xe8 || in->opcode == 0xe9 || in->map ? 4 : word;
    case 'v':
        return in->is_wide ? 8 : word;
    case 'o':
        return 8;
    case 'g':
        return (in->reg & 6) != 0 ? 0 : in->opcode == 0xf6 ? 1 : word;
    default:
        return 0;
    }
}

/* The instruction at CODE, of which LEFT bytes remain. False: not followed. */
static bool
read_instruction(const uint8_t *code, size_t left, struct instruction *in)
{
    uint8_t bytes[32] = {0};
    unsigned rex;
    memset(in, 0, sizeof(*in));
    memcpy(bytes, code, left < 16 ? left : 16);
    size_t at = read_opcode(bytes, in, &rex);
    in->form = form_of(in);
    if (in->form == '?')
        return false;
    if (in->form == 'm' || in->form == 'B' || in->form == 'Z' ||
        in->form == 'g')
        at += read_operand(bytes + at, rex, in);
    else
        in->rm = in->base = (in->opcode & 7) | (rex & 1) << 3;
    size_t size = immediate_size(in);
    if (size == 1)
        in->immediate = (int8_t)bytes[at];
    else if (size == 4)
        memcpy(&in->immediate, bytes + at, 4);
    in->length = at + size;
    return in->length <= left && in->length <= 15;
}

/* What an instruction does to rsp. */
enum effect {
    NOTHING,
    FRAME,   /* mov %rsp, %rbp */
    SAVE,    /* push of a callee-saved register */
    PUSH,    /* another push */
    RESERVE, /* subtracts a constant */
    GIVE_BACK,
    GO_ON,   /* call or conditional jump */
    GO_AWAY, /* jump or return */
    UNKNOWN, /* rsp becomes, or is compared with, something else */
};

static enum effect
arithmetic_effect(const struct instruction *in, int32_t *amount)
{
    unsigned operation = in->reg & 7;
    bool adds = operation == 0, subtracts = operation == 5;
    if (in->mod != 3 || in->rm != RSP)
        return NOTHING;
    *amount = adds ? -in->immediate : in->immediate;
    if (!in->is_wide || (!adds && !subtracts))
        return UNKNOWN;
    return *amount > 0 ? RESERVE : GIVE_BACK;
}

/* An instruction with a register in ModRM.reg and another operand. */
static enum effect
move_effect(const struct instruction *in)
{
    bool to_reg = in->opcode == 0x63 || (in->opcode & 2) != 0;
    bool is_lea = in->opcode == 0x8d;
    if (in->opcode == 0x85 || in->opcode == 0x84)
        return NOTHING;
    if ((in->opcode == 0x89 && in->mod == 3 && in->reg == RSP &&
         in->rm == RBP) ||
        (in->opcode == 0x8b && in->mod == 3 && in->rm == RSP && in->reg == RBP))
        return FRAME;
    if (is_lea)
        return in->reg != RSP ? NOTHING : in->base == RBP ? GIVE_BACK : UNKNOWN;
    /* Copies of rsp are harmless, but who compares with it loops over it. */
    bool compares = (in->opcode & 0xfc) == 0x38;
    bool names_rm = in->mod == 3 && in->rm == RSP;
    if (compares)
        return in->reg == RSP || names_rm ? UNKNOWN : NOTHING;
    return (to_reg ? in->reg == RSP : names_rm) ? UNKNOWN : NOTHING;
}

static enum effect
push_effect(const struct instruction *in)
{
    bool is_saved = in->rm == 3 || in->rm >= 12;
    return is_saved ? SAVE : PUSH;
}

static enum effect
group_effect(const struct instruction *in)
{
    unsigned operation = in->reg & 7;
    if (in->opcode != 0xff)
        return NOTHING;
    if (operation == 6)
        return PUSH;
    if (operation == 2 || operation == 3)
        return GO_ON;
    return operation == 4 || operation == 5 ? GO_AWAY : NOTHING;
}

static enum effect
two_byte_effect(const struct instruction *in)
{
    if (in->map != MAP_0F)
        return NOTHING;
    if ((in->opcode & 0xf0) == 0x80)
        return GO_ON;
    if (in->opcode == 0xa0 || in->opcode == 0xa8)
        return PUSH;
    return (in->opcode & 0xf0) == 0x40 && in->reg == RSP ? UNKNOWN : NOTHING;
}

/* What IN does to rsp; *AMOUNT is the constant of a RESERVE. */
static enum effect
effect_of(const struct instruction *in, int32_t *amount)
{
    unsigned op = in->opcode;
    if (in->is_vector)
        return NOTHING;
    if (in->map != MAP_ONE)
        return two_byte_effect(in);
    if ((op & 0xf8) == 0x50)
        return push_effect(in);
    if (op == 0x68 || op == 0x6a || op == 0x9c)
        return PUSH;
    if (op == 0xc9)
        return GIVE_BACK;
    if ((op & 0xf8) == 0x58)
        return in->rm == RSP ? UNKNOWN : GIVE_BACK;
    if (op == 0x81 || op == 0x83)
        return arithmetic_effect(in, amount);
    if (op < 0x40 && (op & 7) >= 4)
        return NOTHING;
    if (op < 0x40 || op == 0x63 || (op >= 0x84 && op <= 0x8d))
        return move_effect(in);
    if ((op & 0xf0) == 0x70 || (op >= 0xe0 && op <= 0xe3) || op == 0xe8)
        return GO_ON;
    if (op == 0xe9 || op == 0xeb || op == 0xc2 || op == 0xc3)
        return GO_AWAY;
    if ((op & 0xf8) == 0x90 || (op & 0xf0) == 0xb0)
        return in->rm == RSP && (op & 0xf8) != 0xb0 ? UNKNOWN : NOTHING;
    if (op == 0xc7 || op == 0xc1 || op == 0xd1 || op == 0xd3 || op == 0xf7)
        return in->mod == 3 && in->rm == RSP ? UNKNOWN : NOTHING;
    return group_effect(in);
}

/* A function as far as it was followed. */
struct reading {
    bool has_frame;  /* behind mov %rsp, %rbp */
    bool has_left;   /* behind the first jump or call */
    bool is_ending;  /* something was given back, and no jump since */
    bool is_lower;   /* something was given back before a call */
    unsigned saved;  /* callee-saved registers, a bit each */
    uint64_t saves;  /* bytes of them */
    uint64_t locals; /* bytes reserved before the first jump */
    uint64_t pushes; /* bytes that may lie on the stack at a call or not */
    size_t ready;    /* behind the last save or reservation */
};

/* Take IN, which ends at END, into account. False if all is lost by it. */
static bool
note_instruction(struct reading *reading, const struct instruction *in,
                 size_t end)
{
    int32_t amount = 8;
    enum effect effect = effect_of(in, &amount);
    if (!reading->has_frame || effect == FRAME) {
        /* What came before does not matter; a second frame would. */
        bool is_second = reading->has_frame;
        reading->has_frame = effect == FRAME;
        return !is_second;
    }
    reading->is_lower |= effect == GO_ON && reading->is_ending;
    if (effect == GO_ON || effect == GO_AWAY) {
        reading->has_left = true;
        reading->is_ending = false;
    }
    if (effect == SAVE && !reading->has_left &&
        (reading->saved & 1u << in->rm) == 0) {
        reading->saved |= 1u << in->rm;
        reading->saves += 8;
        reading->ready = end;
    } else if (effect == RESERVE && !reading->has_left) {
        reading->locals += (uint64_t)amount;
        reading->ready = end;
    } else if (effect == SAVE || effect == PUSH || effect == RESERVE) {
        reading->pushes += (uint64_t)amount;
    }
    reading->is_ending |= effect == GIVE_BACK;
    return effect != UNKNOWN;
}

bool
code_read_frame(const uint8_t *code, size_t length, struct code_frame *frame)
{
    struct reading reading = {0};
    struct instruction in;
    for (size_t at = 0; at < length; at += in.length)
        if (!read_instruction(code + at, length - at, &in) ||
            !note_instruction(&reading, &in, at + in.length))
            return false;
    /* With pushes there may be no locals: what was reserved may have been the
     * padding of pushed arguments. */
    frame->high = reading.saves + reading.locals + reading.pushes;
    frame->low = reading.is_lower      ? 0
                 : reading.pushes != 0 ? reading.saves
                                       : frame->high;
    frame->ready = reading.ready;
    return reading.has_frame;
}
