/* SPDX-License-Identifier: MIT */
/*
 * instruction.c -- see instruction.h. It runs in any thread, on a copy of the
 * code that cannot change meanwhile.
 */
#include <string.h>

#include "instruction.h"
#include "base/poison.h"

/* The operands of each opcode, by a letter: '.' none, 'm' ModRM. An immediate
 * has 1 byte for 'b', 2 for 'w', and 4 (2 after 66) for 'z'. It has 8 with
 * REX.W for 'v', and always 8 for 'o'. 'B' and 'Z' have ModRM, too. 'g' has
 * ModRM, and an immediate if it is TEST. '?' is not followed. Intel SDM, volume
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

static bool
is_prefix(uint8_t byte)
{
    return (byte & 0xfc) == 0x64 || (byte & 0xe7) == 0x26 || byte == 0xf0 ||
           byte == 0xf2 || byte == 0xf3;
}

/* Read the SIZE bytes of a VEX or EVEX prefix at CODE. Its bits are inverted.
 */
static void
read_vector_prefix(const uint8_t *code, unsigned size, struct instruction *in,
                   unsigned *rex)
{
    uint8_t last = code[size == 2 ? 1 : 2];
    *rex = (code[1] & 0x80) == 0 ? 4 : 0;
    if (size != 2)
        *rex |= (code[1] & 0x20) == 0 ? 1 : 0;
    in->other = ~(unsigned)last >> 3 & 15u;
    in->is_short = (last & 3) == 1;
    in->is_repeated = (last & 3) == 2;
    in->is_repne = (last & 3) == 3;
}

/* Read prefixes and opcode at CODE, which has up to 15 bytes and zeroes after
 * the end. Returns the number of bytes before ModRM. 0: they are not followed.
 */
static size_t
read_opcode(const uint8_t *code, struct instruction *in, unsigned *rex)
{
    size_t at = 0;
    for (; at < 8 && is_prefix(code[at]); at++) {
        in->is_short |= code[at] == 0x66;
        in->is_repeated |= code[at] == 0xf3;
        in->is_repne |= code[at] == 0xf2;
    }
    *rex = 0;
    in->has_rex = (code[at] & 0xf0) == 0x40;
    if (in->has_rex)
        *rex = code[at++];
    in->is_wide = (*rex & 8) != 0;
    in->map = MAP_ONE;
    in->is_vector = false;
    if (code[at] == 0xc5 || code[at] == 0xc4 || code[at] == 0x62) {
        unsigned size = code[at] == 0xc5 ? 2 : code[at] == 0xc4 ? 3 : 4;
        in->map = size == 2 ? MAP_0F : code[at + 1] & (size == 3 ? 31u : 7u);
        in->is_vector = true;
        read_vector_prefix(code + at, size, in, rex);
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

/* Read ModRM, SIB and displacement at CODE. Returns their number of bytes. */
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
    in->has_base = true;
    if (rm == RSP) {
        in->base = (code[1] & 7) | (rex & 1) << 3;
        in->has_index = (code[1] & 0x38) != 0x20 || (rex & 2) != 0;
        rm = code[at++] & 7;
    }
    if (in->mod == 1) {
        in->displacement = (int8_t)code[at];
        return at + 1;
    }
    if (in->mod == 0 && rm != RBP)
        return at;
    memcpy(&in->displacement, code + at, 4);
    in->has_base = in->mod == 2;
    return at + 4;
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
        /* In a jump or call the prefix is ignored. */
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

bool
instruction_read(const uint8_t *code, size_t left, struct instruction *in)
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
