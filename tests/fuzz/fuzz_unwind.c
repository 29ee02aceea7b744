/* SPDX-License-Identifier: MIT */
/*
 * fuzz_unwind.c -- any bytes as a module whose unwind table is asked for rules:
 * the search in .eh_frame_hdr, the rows of an FDE, its expressions,
 * and the reader of machine code. An input is three 32-bit numbers (offsets of
 * the pc and of the table, size of the table) and the module.
 */
#include <stdlib.h>
#include <string.h>

#include "unwind/cfi.h"
#include "unwind/frame_size.h"
#include "unwind/learn.h"
#include "unwind/pages.h"
#include "process/modules.h"

#include "fuzz.h"
#include "memory.h"

/* Number of rows that are compared, and of pieces that a function is cut into.
 */
#define ROWS_MOST 64u
#define PIECES 7u

static struct module module;

/* In the place of the module map: all memory is this one module. */
const struct module *__wrap_modules_find(uint64_t address);
enum code_kind __wrap_modules_code_kind(uint64_t address);

const struct module *
__wrap_modules_find(uint64_t address)
{
    return address >= module.start && address < module.end ? &module : NULL;
}

enum code_kind
__wrap_modules_code_kind(uint64_t address)
{
    return __wrap_modules_find(address) != NULL ? CODE_MODULE : CODE_NONE;
}

/* The first rows of a function, and where the last of all ends. */
struct rows {
    uint64_t at;
    unsigned count;
    struct cfi_row rows[ROWS_MOST];
};

/* Rows lie in their function, one after the other. */
static void
take_row(void *to, const struct cfi_row *row)
{
    struct rows *rows = to;
    if (row->start != rows->at || row->end <= row->start)
        abort();
    rows->at = row->end;
    if (rows->count < ROWS_MOST)
        rows->rows[rows->count++] = *row;
}

/* A row that was seen before is the same again. */
static void
take_row_again(void *to, const struct cfi_row *row)
{
    const struct rows *rows = to;
    unsigned i = 0;
    while (i < rows->count && rows->rows[i].start < row->start)
        i++;
    if (i == ROWS_MOST)
        return;
    if (i == rows->count || rows->rows[i].start != row->start ||
        rows->rows[i].end != row->end ||
        rows->rows[i].rule.word != row->rule.word)
        abort();
}

/* The rows of FDE by pieces of its code, in their order, and then those of the
 * first piece again. */
static void
find_rows_in_pieces(struct pages *pages, const struct fde *fde,
                    struct rows *rows)
{
    uint64_t size = (fde->end - fde->start) / PIECES + 1;
    for (uint64_t at = fde->start; at < fde->end; at += size)
        (void)cfi_rows(pages, fde, at, at + size, take_row_again, rows);
    (void)cfi_rows(pages, fde, fde->start, fde->start + size, take_row_again,
                   rows);
}

static void
find_rows(uint64_t pc)
{
    static struct pages pages;
    struct fde fde;

    pages_begin(&pages);
    if (!fde_find(&pages, &module, pc, &fde))
        return;
    if (pc < fde.start || pc >= fde.end)
        abort();
    struct rows rows = {.at = fde.start};
    if (cfi_rows(&pages, &fde, fde.start, fde.end, take_row, &rows)
            ? rows.at != fde.end
            : rows.at > fde.end)
        abort();
    find_rows_in_pieces(&pages, &fde, &rows);
}

/* In memory of its exact size, so that the sanitizers see one byte too many. */
static void
read_code(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size + 1);
    struct frame_size frame;

    if (copy == NULL)
        return;
    memcpy(copy, data, size);
    if (frame_size_read(copy, size, &frame) && frame.low > frame.high)
        abort();
    free(copy);
}

static void
learn(uint64_t pc)
{
    static bool has_begun;
    static uint8_t window[VIEW_WINDOW];
    struct hard_registers origin = {.known = HARD_ALL_KNOWN};
    struct regs caller;
    struct view view;
    bool is_root;

    if (!has_begun && (rules_begin() != 0 || learn_begin() != 0))
        abort();
    has_begun = true;
    learn_forget_pages();
    if (rule_kind(learn_rule(pc, false)) == RULE_NONE)
        abort();
    for (unsigned i = 0; i < ARCH_REGISTERS; i++)
        origin.registers.at[i] = MEMORY_START + i * 64;
    origin.registers.at[ARCH_PC] = pc;
    view_begin(&view, 0, 0, 0, window);
    (void)learn_step(&origin, 0, pc, &view, &caller, &is_root);
    rules_begin();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint32_t head[3];
    uint64_t pc;

    if (size < sizeof(head))
        return 0;
    memcpy(head, data, sizeof(head));
    data += sizeof(head);
    size -= sizeof(head);
    memory_set(data, size);
    module = (struct module){.start = MEMORY_START,
                             .end = MEMORY_START + (1u << 20),
                             .base = MEMORY_START,
                             .table = MEMORY_START + head[1],
                             .table_size = head[2],
                             .path = "fuzz",
                             .id = 1};
    pc = MEMORY_START + head[0];
    find_rows(pc);
    learn(pc);
    if (head[0] < size)
        read_code(data + head[0], size - head[0]);
    return 0;
}
