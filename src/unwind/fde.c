/* SPDX-License-Identifier: MIT */
/*
 * fde.c -- see fde.h. It runs on the sampler thread, also while a thread is
 * parked. It reads the table as foreign bytes: every length is bounded, and
 * what is not understood gives no answer.
 */
#include <string.h>

#include "process/modules.h"
#include "pages.h"
#include "fde.h"
#include "base/poison.h"

/* Pointer encodings of .eh_frame (LSB, "DWARF exception header encoding"). */
#define ENCODING_UDATA4 0x03
#define ENCODING_DATAREL_SDATA4 0x3b

/* Where a look at a module's table ended: NUMBER is the last entry that begins
 * before END. */
struct ending {
    uint64_t stamp; /* of the pages */
    uint64_t table, end;
    uint32_t number;
};

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

/* Read the end of FDE, which has its start and its address. */
static bool
read_end(struct pages *pages, struct fde *fde)
{
    /* Length and CIE pointer; start and size, with sdata4. */
    uint64_t head, range;
    if (!pages_word(pages, fde->address, &head) ||
        !pages_word(pages, fde->address + 8, &range) || (uint32_t)head < 12 ||
        (uint32_t)head == UINT32_MAX)
        return false;
    fde->end = fde->start + (range >> 32);
    return true;
}

bool
fde_find(struct pages *pages, const struct module *module, uint64_t pc,
         struct fde *fde)
{
    uint32_t number;
    return search_table(pages, module, pc, &fde->start, &fde->address,
                        &number) &&
           read_end(pages, fde) && pc < fde->end;
}

/* Find the first entry of MODULE's table that may reach START. Callers usually
 * ask for pieces of code in order: then it is where the last piece ended.
 */
static uint32_t
find_first(struct pages *pages, const struct module *module, uint64_t start,
           const struct ending *last)
{
    uint64_t found, address;
    uint32_t number;
    if (last->stamp == pages->stamp && last->table == module->table &&
        last->end == start)
        return last->number;
    return search_table(pages, module, start, &found, &address, &number)
               ? number
               : 0;
}

void
fde_each(struct pages *pages, const struct module *module, uint64_t start,
         uint64_t end, void (*visit)(void *to, const struct fde *fde), void *to)
{
    static struct ending last;
    uint32_t count = count_entries(pages, module);
    uint32_t number = find_first(pages, module, start, &last), first = number;
    struct fde fde;
    for (; number < count &&
           read_entry(pages, module, number, &fde.start, &fde.address) &&
           fde.start < end;
         number++)
        if (read_end(pages, &fde) && fde.end > start)
            visit(to, &fde);
    last = (struct ending){pages->stamp, module->table, end,
                           number > first ? number - 1 : first};
}

uint64_t
fde_gap_start(struct pages *pages, const struct module *module, uint64_t pc)
{
    uint32_t number;
    struct fde fde;
    return search_table(pages, module, pc, &fde.start, &fde.address, &number) &&
                   read_end(pages, &fde) && fde.end <= pc
               ? fde.end
               : module->start;
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
