/* SPDX-License-Identifier: MIT */
/* frame_table.c -- see frame_table.h. */
#include <dwarf.h>

#include "frame_table.h"

/* The forms that linkers write: 4 bytes each, relative to the table. */
#define TABLE_FORM (DW_EH_PE_datarel | DW_EH_PE_sdata4)
#define TABLE_ROW 8
#define SIZE_MASK 0x0f

/* The size of a pointer in FORM, in bytes. 0 if the size is not fixed. */
static unsigned
pointer_size(unsigned form)
{
    switch (form & SIZE_MASK) {
    case DW_EH_PE_udata2:
    case DW_EH_PE_sdata2:
        return 2;
    case DW_EH_PE_udata4:
    case DW_EH_PE_sdata4:
        return 4;
    case DW_EH_PE_absptr:
    case DW_EH_PE_udata8:
    case DW_EH_PE_sdata8:
        return 8;
    default:
        return 0;
    }
}

/* The section of FILE called NAME. *ADDRESS gets the address where it is
 * loaded. */
static struct bytes
find_section(const struct elf_view *file, const char *name, uint64_t *address)
{
    const Elf64_Shdr *section = elf_view_section(file, name);
    if (section == NULL)
        return (struct bytes){0};
    *address = section->sh_addr;
    return elf_view_content(file, section);
}

void
frame_table_read(struct frame_table *table, const struct elf_view *file)
{
    struct bytes at = find_section(file, ".eh_frame_hdr", &table->table_base);
    table->entries = find_section(file, ".eh_frame", &table->entries_address);
    bytes_skip(&at, 1); /* the version */
    unsigned size = pointer_size((unsigned)bytes_number(&at, 1));
    unsigned count_form = (unsigned)bytes_number(&at, 1);
    unsigned form = (unsigned)bytes_number(&at, 1);
    bytes_skip(&at, size); /* where .eh_frame is */
    table->count = bytes_number(&at, pointer_size(count_form));
    table->table = at;
    if (size == 0 || form != TABLE_FORM || at.at == NULL ||
        table->entries.at == NULL ||
        table->count > (uint64_t)(at.end - at.at) / TABLE_ROW)
        table->count = 0;
}

/* The row of the last function that begins at ADDRESS or before; COUNT if none
 * does. The bases are added modulo 2^64. */
static uint64_t
last_row_before(const struct frame_table *table, uint64_t address)
{
    uint64_t low = 0, high = table->count;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        struct bytes at = bytes_from(&table->table, middle * TABLE_ROW);
        int32_t start = (int32_t)bytes_number(&at, 4);
        if (table->table_base + (uint64_t)(int64_t)start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? low - 1 : table->count;
}

/* The form of addresses in the entries that share the common entry at AT. */
static unsigned
address_form(struct bytes at)
{
    bytes_skip(&at, 8); /* length and mark */
    uint64_t version = bytes_number(&at, 1);
    const char *letter = bytes_text(&at);
    bytes_leb(&at);
    bytes_leb(&at);
    if (version == 1)
        bytes_skip(&at, 1);
    else
        bytes_leb(&at);
    if (*letter != 'z')
        return DW_EH_PE_absptr;
    bytes_leb(&at);
    while (at.at != NULL && *++letter != '\0') {
        if (*letter == 'R')
            return (unsigned)bytes_number(&at, 1);
        if (*letter == 'P')
            bytes_skip(&at, pointer_size((unsigned)bytes_number(&at, 1)));
        else if (*letter == 'L')
            bytes_skip(&at, 1);
    }
    return DW_EH_PE_absptr;
}

/* The number of bytes of code that the entry at ADDRESS covers; 0 without an
 * entry.
 */
static uint64_t
code_size(const struct frame_table *table, uint64_t address)
{
    uint64_t place = address - table->entries_address;
    struct bytes at = bytes_from(&table->entries, place);
    if (bytes_number(&at, 4) == UINT32_MAX)
        return 0; /* an entry of more than 4 GiB */
    uint64_t back = bytes_number(&at, 4);
    if (at.at == NULL || back == 0 || back > place + 4)
        return 0;
    unsigned size = pointer_size(
        address_form(bytes_from(&table->entries, place + 4 - back)));
    bytes_skip(&at, size);
    return bytes_number(&at, size);
}

bool
frame_table_find(const struct frame_table *table, uint64_t address,
                 uint64_t *start, uint64_t *end)
{
    uint64_t row = last_row_before(table, address);
    struct bytes at = bytes_from(&table->table, row * TABLE_ROW);
    if (row >= table->count)
        return false;
    uint64_t begin =
        table->table_base + (uint64_t)(int64_t)(int32_t)bytes_number(&at, 4);
    uint64_t entry =
        table->table_base + (uint64_t)(int64_t)(int32_t)bytes_number(&at, 4);
    uint64_t size = code_size(table, entry);
    if (address - begin >= size)
        return false;
    *start = begin;
    *end = begin + size;
    return true;
}
