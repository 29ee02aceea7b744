/* SPDX-License-Identifier: MIT */
/*
 * fde.c -- finds an FDE and the rows in it; see fde.h. It runs on the sampler
 * thread, also while a thread is parked. It reads the table as foreign bytes:
 * every length is bounded, and what is not understood gives no answer.
 */
#include <string.h>

#include "process/modules.h"
#include "pages.h"
#include "fde.h"
#include "base/poison.h"

/* Pointer encodings of .eh_frame (LSB, "DWARF exception header encoding"). */
#define ENCODING_PCREL_SDATA4 0x1b
#define ENCODING_UDATA4 0x03
#define ENCODING_DATAREL_SDATA4 0x3b

/* Limit of the length of an FDE that is read for its rows, in bytes. */
#define FDE_BYTES_MAX 4096

/* A cursor over bytes that were copied from the table. */
struct bytes {
    const uint8_t *at, *end;
    bool bad; /* ran over the end */
};

static uint64_t
take_bytes(struct bytes *bytes, unsigned size)
{
    uint64_t value = 0;
    if ((size_t)(bytes->end - bytes->at) < size) {
        bytes->bad = true;
        return 0;
    }
    memcpy(&value, bytes->at, size);
    bytes->at += size;
    return value;
}

static uint64_t
take_leb(struct bytes *bytes)
{
    uint64_t value = 0, byte;
    unsigned shift = 0;
    do {
        byte = take_bytes(bytes, 1);
        if (shift < 64)
            value |= (byte & 127) << shift;
        shift += 7;
    } while ((byte & 128) != 0 && !bytes->bad);
    return value;
}

static void
skip_bytes(struct bytes *bytes, uint64_t size)
{
    if ((uint64_t)(bytes->end - bytes->at) < size)
        bytes->bad = true;
    else
        bytes->at += size;
}

/* Read entry I of the sorted table: function start and FDE, which are relative
 * to the table. */
static bool
read_entry(struct pages *pages, const struct module *module, uint32_t i,
           uint64_t *start, uint64_t *address)
{
    uint64_t pair;
    if (!pages_word(pages, module->table + 12 + 8ull * i, &pair))
        return false;
    *start = module->table + (uint64_t)(int32_t)pair;
    *address = module->table + (uint64_t)((int64_t)pair >> 32);
    return true;
}

/* The number of entries of MODULE's table. 0: it has none, or one that is not
 * understood. */
static uint32_t
count_entries(struct pages *pages, const struct module *module)
{
    uint8_t head[12];
    uint32_t count;
    if (module->table == 0 ||
        !pages_read(pages, module->table, head, sizeof(head)) || head[0] != 1 ||
        head[2] != ENCODING_UDATA4 || head[3] != ENCODING_DATAREL_SDATA4)
        return 0;
    memcpy(&count, head + 8, sizeof(count));
    return 12 + 8ull * count <= module->table_size ? count : 0;
}

/* Find the last entry that starts at or before PC, and its *NUMBER. */
static bool
search_table(struct pages *pages, const struct module *module, uint64_t pc,
             uint64_t *start, uint64_t *address, uint32_t *number)
{
    uint32_t count = count_entries(pages, module), low = 0;
    if (count == 0)
        return false;
    while (count > 1) {
        uint32_t half = count / 2;
        if (!read_entry(pages, module, low + half, start, address))
            return false;
        if (*start <= pc) {
            low += half;
            count -= half;
        } else {
            count = half;
        }
    }
    *number = low;
    return read_entry(pages, module, low, start, address) && *start <= pc;
}

bool
fde_find(struct pages *pages, const struct module *module, uint64_t pc,
         struct fde *fde)
{
    uint32_t head[4]; /* length, CIE pointer, start, size: with sdata4 */
    uint32_t number;
    if (!search_table(pages, module, pc, &fde->start, &fde->address, &number) ||
        !pages_read(pages, fde->address, head, sizeof(head)) || head[0] < 12 ||
        head[0] == UINT32_MAX)
        return false;
    fde->end = fde->start + head[3];
    return pc < fde->end;
}

uint64_t
fde_gap_end(struct pages *pages, const struct module *module, uint64_t pc)
{
    uint32_t count = count_entries(pages, module), number = 0;
    uint64_t start, address;
    if (search_table(pages, module, pc, &start, &address, &number))
        number++;
    return number < count && read_entry(pages, module, number, &start, &address)
               ? start
               : module->end;
}

struct cie {
    uint64_t code_align;
    bool augmented; /* FDEs carry a length of augmentation data */
};

/* Read the parts of a CIE that rows depend on. */
static bool
read_cie(struct pages *pages, uint64_t address, struct cie *cie)
{
    uint8_t raw[64];
    if (!pages_read(pages, address, raw, sizeof(raw)))
        return false;
    struct bytes bytes = {raw + 8, raw + sizeof(raw), false};
    uint64_t version = take_bytes(&bytes, 1);
    const char *augmentation = (const char *)bytes.at;
    size_t length = strnlen(augmentation, 16);
    if ((version != 1 && version != 3) || length == 16)
        return false;
    skip_bytes(&bytes, length + 1);
    cie->code_align = take_leb(&bytes);
    take_leb(&bytes); /* data alignment */
    take_leb(&bytes); /* return address register */
    cie->augmented = augmentation[0] == 'z';
    if (!cie->augmented)
        return false;
    take_leb(&bytes);
    for (const char *c = augmentation + 1; *c != '\0' && !bytes.bad; c++) {
        uint64_t encoding = *c == 'S' || *c == 'B' ? 0 : take_bytes(&bytes, 1);
        if (*c == 'R' && encoding != ENCODING_PCREL_SDATA4)
            return false;
        if (*c == 'P')
            skip_bytes(&bytes, (encoding & 7) == 3 ? 4 : 8);
    }
    return !bytes.bad;
}

/* Skip the operands of instruction OPCODE. Returns false if its meaning is not
 * known, or may depend on the pc (an expression for the CFA). */
static bool
skip_operands(struct bytes *bytes, unsigned opcode)
{
    /* By opcode: how many numbers follow; 'b' a number and a block; '-' never
     * skipped. The rows begin at nop, register, remember_state, def_cfa and
     * expression. */
    static const char operands[] = "0----2111"
                                   "2"
                                   "00"
                                   "211-"
                                   "b22122b";
    if ((opcode & 0xc0) == 0x80) {
        take_leb(bytes);
        return true;
    }
    if ((opcode & 0xc0) == 0xc0)
        return true;
    if (opcode == 0x2e) /* GNU_args_size */
        opcode = 6;
    char form = opcode < sizeof(operands) - 1 ? operands[opcode] : '-';
    if (form == '-')
        return false;
    if (form != '0')
        take_leb(bytes);
    if (form == '2')
        take_leb(bytes);
    if (form == 'b')
        skip_bytes(bytes, take_leb(bytes));
    return true;
}

/* Read how far instruction OPCODE advances, in units of the code alignment.
 * Returns false if it is another instruction. */
static bool
take_advance(struct bytes *bytes, unsigned opcode, uint64_t *advance)
{
    if ((opcode & 0xc0) == 0x40)
        *advance = opcode & 0x3f;
    else if (opcode >= 2 && opcode <= 4)
        *advance = take_bytes(bytes, 1u << (opcode - 2));
    else
        return false;
    return true;
}

/* Run over all instructions. START and END become the row that holds PC. */
static bool
find_row(struct bytes *bytes, uint64_t code_align, uint64_t pc, uint64_t *start,
         uint64_t *end)
{
    uint64_t location = *start, limit = *end, advance;
    while (bytes->at < bytes->end && !bytes->bad) {
        unsigned opcode = (unsigned)take_bytes(bytes, 1);
        if (!take_advance(bytes, opcode, &advance)) {
            if (!skip_operands(bytes, opcode))
                return false;
            continue;
        }
        location += advance * code_align;
        if (location <= pc)
            *start = location;
        else if (location < limit)
            limit = location;
    }
    *end = limit;
    return !bytes->bad && *start <= pc && pc < *end;
}

bool
fde_row(struct pages *pages, const struct fde *fde, uint64_t pc,
        uint64_t *start, uint64_t *end)
{
    uint32_t head[2];
    uint8_t raw[FDE_BYTES_MAX];
    struct cie cie;
    if (!pages_read(pages, fde->address, head, sizeof(head)) || head[0] < 12 ||
        head[0] > sizeof(raw) ||
        !read_cie(pages, fde->address + 4 - head[1], &cie) ||
        !pages_read(pages, fde->address + 4, raw, head[0]))
        return false;
    struct bytes bytes = {raw + 12, raw + head[0], false};
    skip_bytes(&bytes, take_leb(&bytes));
    *start = fde->start;
    *end = fde->end;
    return find_row(&bytes, cie.code_align, pc, start, end);
}
