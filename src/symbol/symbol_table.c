/* SPDX-License-Identifier: MIT */
/*
 * symbol_table.c -- the sorted symbol index. Report side.
 *
 * One address often has several symbols: aliases at the same start, labels
 * inside a function, labels without a size in hand-written assembly. The class
 * of a symbol decides first: functions with a size, other symbols with a size,
 * functions without a size, labels. Within a class, the nearest start wins. At
 * equal starts the rank decides. A name without a leading underscore comes
 * first, then one that is not local, then one with fewer underscores, then the
 * shorter one. That is usually the name of the API: "free" wins over
 * "__libc_free" and "cfree", "read" over "__read", and "sin" over "sinf32x".
 *
 * A symbol without a size covers up to the next symbol, but not beyond its
 * section, nor beyond its function (image.c). Code after a symbol's size gets
 * no name.
 */
#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "symbol_table.h"

enum symbol_class { LABEL, BARE_FUNCTION, SIZED_OTHER, SIZED_FUNCTION };

static bool
is_function(const GElf_Sym *symbol)
{
    int type = GELF_ST_TYPE(symbol->st_info);
    return type == STT_FUNC || type == STT_GNU_IFUNC;
}

/* The bits of a rank: 26-27 class, 25 no underscore, 24 not local, 16-23
 * underscores, 0-15 length. */
static uint32_t
rank_of(const GElf_Sym *symbol, const char *name)
{
    size_t underscores = strspn(name, "_"), length = strnlen(name, 0xffff);
    uint32_t rank = symbol->st_size != 0 ? 2 : 0;
    rank = (rank + is_function(symbol)) << 1 | (underscores == 0);
    rank = rank << 1 | (GELF_ST_BIND(symbol->st_info) != STB_LOCAL);
    rank = rank << 8 | (uint32_t)(underscores < 255 ? 255 - underscores : 0);
    return rank << 16 | (uint32_t)(0xffff - length);
}

static enum symbol_class
class_of(const struct range *range)
{
    return (enum symbol_class)(range->rank >> 26);
}

/* Where section INDEX of ELF ends, in that ELF's own numbering. 0 if the
 * section holds no code. */
static uint64_t
code_end(Elf *elf, GElf_Word index)
{
    Elf_Scn *section = elf != NULL ? elf_getscn(elf, index) : NULL;
    GElf_Shdr header;
    if (index == SHN_UNDEF || section == NULL ||
        gelf_getshdr(section, &header) == NULL ||
        (header.sh_flags & SHF_EXECINSTR) == 0)
        return 0;
    return header.sh_addr + header.sh_size;
}

/* Assembler temporaries and mapping symbols, which have no type, are not from a
 * programmer. Swift's functions begin with a "$", too. */
bool
symbol_table_is_code(const GElf_Sym *symbol, const char *name)
{
    bool has_no_type = GELF_ST_TYPE(symbol->st_info) == STT_NOTYPE;
    return *name != '\0' && strncmp(name, ".L", 2) != 0 &&
           (is_function(symbol) || (has_no_type && *name != '$'));
}

int
symbol_table_add(struct symbol_table *table, const GElf_Sym *symbol,
                 const char *name, uint64_t address, uint64_t end)
{
    struct range range = {.low = address, .open = symbol->st_size == 0};
    if (!symbol_table_is_code(symbol, name) || end == 0)
        return 0;
    if (!ARRAY_GROW(table->names, table->count))
        return -1;
    range.high = range.open != 0 ? end : address + symbol->st_size;
    range.rank = rank_of(symbol, name) & RANGE_RANK_MAX;
    range.value = (uint32_t)table->count;
    table->names[table->count++] = name;
    return range_index_add(&table->ranges, &range);
}

/* Add symbol NUMBER of the module. Returns 0, or -1 with errno set. */
static int
add_symbol(struct symbol_table *table, struct elf_file *file, int number)
{
    GElf_Sym symbol;
    GElf_Addr address, bias;
    GElf_Word section;
    Elf *elf;
    const char *name = dwfl_module_getsym_info(file->module, number, &symbol,
                                               &address, &section, &elf, &bias);
    if (name == NULL || !symbol_table_is_code(&symbol, name))
        return 0;
    uint64_t end = code_end(elf, section);
    return symbol_table_add(table, &symbol, name, address - file->bias,
                            end == 0 ? 0 : end + bias - file->bias);
}

int
symbol_table_read(struct symbol_table *table, struct elf_file *file)
{
    int count = dwfl_module_getsymtab(file->module);
    /* Symbol 0 is the empty one. */
    for (int i = 1; i < count; i++) {
        if (add_symbol(table, file, i) != 0)
            return -1;
    }
    range_index_seal(&table->ranges);
    return 0;
}

const char *
symbol_table_find(const struct symbol_table *table, uint64_t address,
                  uint64_t *start)
{
    const struct range *range = NULL, *best = NULL;
    while ((range = range_index_find(&table->ranges, address, range)) != NULL) {
        if (best == NULL || class_of(range) > class_of(best))
            best = range;
        if (class_of(best) == SIZED_FUNCTION)
            break;
    }
    *start = best != NULL && best->open != 0 ? best->low : address;
    return best != NULL ? table->names[best->value] : NULL;
}

void
symbol_table_free(struct symbol_table *table)
{
    range_index_free(&table->ranges);
    free(table->names);
    *table = (struct symbol_table){0};
}
