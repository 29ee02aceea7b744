/* SPDX-License-Identifier: MIT */
/*
 * elf_symbols.c -- see elf_symbols.h. Most modules lack the wanted symbol. One
 * word of the Bloom filter shows that, and the module costs three system calls
 * in all. Any number in a table may be wrong, so each loop has a limit.
 */
#include <elf.h>
#include <string.h>

#include "base/sys.h"
#include "elf_symbols.h"
#include "base/poison.h"

/* Limits for one module: program headers, entries of its dynamic section, and
 * symbols of one bucket. */
#define PHDRS_MAX 64u
#define DYNAMIC_MAX 96u
#define CHAIN_MAX 4096u

/* Longest name that is compared, in bytes. */
#define NAME_MAX_LENGTH 64u

/* The dynamic section of MODULE. Returns the number of entries in ENTRIES. */
static unsigned
read_dynamic(const struct module *module, Elf64_Dyn entries[DYNAMIC_MAX])
{
    Elf64_Ehdr head;
    Elf64_Phdr phdrs[PHDRS_MAX];
    if (module->phdrs == 0 ||
        !sys_copy_memory(&head, module->start, sizeof(head)) ||
        head.e_phnum > PHDRS_MAX ||
        !sys_copy_memory(phdrs, module->phdrs, head.e_phnum * sizeof(*phdrs)))
        return 0;
    for (unsigned i = 0; i < head.e_phnum; i++) {
        size_t size = phdrs[i].p_memsz;
        if (phdrs[i].p_type != PT_DYNAMIC)
            continue;
        if (size > DYNAMIC_MAX * sizeof(*entries))
            size = DYNAMIC_MAX * sizeof(*entries);
        if (!sys_copy_memory(entries, module->base + phdrs[i].p_vaddr, size))
            return 0;
        return (unsigned)(size / sizeof(*entries));
    }
    return 0;
}

/* The loader of glibc adds the base to an address when it relocates the dynamic
 * section. It leaves that of the vdso alone. */
static uint64_t
address_of(const struct module *module, uint64_t value)
{
    return value >= module->start && value < module->end ? value
                                                         : module->base + value;
}

/* Note ENTRY of the dynamic section in TABLE. *HASH becomes the address of
 * DT_GNU_HASH. */
static void
take_entry(struct elf_symbols *table, const struct module *module,
           const Elf64_Dyn *entry, uint64_t *hash)
{
    uint64_t value = entry->d_un.d_val, address = address_of(module, value);
    switch (entry->d_tag) {
    case DT_SYMTAB:
        table->symbols = address;
        break;
    case DT_STRTAB:
        table->strings = address;
        break;
    case DT_GNU_HASH:
        *hash = address;
        break;
    case DT_RELA:
        table->relocations[0].start = address;
        break;
    case DT_RELASZ:
        table->relocations[0].size = value;
        break;
    case DT_JMPREL:
        table->relocations[1].start = address;
        break;
    case DT_PLTRELSZ:
        table->relocations[1].size = value;
        break;
    case DT_FLAGS_1:
        table->is_program |= (value & DF_1_PIE) != 0;
        break;
    default:
        break;
    }
}

bool
elf_symbols_open(struct elf_symbols *table, const struct module *module)
{
    Elf64_Dyn entries[DYNAMIC_MAX];
    Elf64_Ehdr file;
    uint64_t hash = 0;
    uint32_t head[4];
    unsigned count = read_dynamic(module, entries);
    *table = (struct elf_symbols){.base = module->base};
    if (count != 0 && sys_copy_memory(&file, module->start, sizeof(file)))
        table->is_program = file.e_type == ET_EXEC;
    for (unsigned i = 0; i < count && entries[i].d_tag != DT_NULL; i++)
        take_entry(table, module, &entries[i], &hash);
    if (hash == 0 || table->symbols == 0 || table->strings == 0 ||
        !sys_copy_memory(head, hash, sizeof(head)) || head[0] == 0 ||
        head[2] == 0)
        return false;
    table->bucket_count = head[0];
    table->first = head[1];
    table->bloom_count = head[2];
    table->bloom_shift = head[3];
    table->bloom = hash + sizeof(head);
    table->buckets = table->bloom + head[2] * 8ull;
    table->chains = table->buckets + head[0] * 4ull;
    return true;
}

/* The hash function of DT_GNU_HASH. */
static uint32_t
hash_of(const char *name)
{
    uint32_t hash = 5381;
    for (const unsigned char *at = (const unsigned char *)name; *at != 0; at++)
        hash = hash * 33 + *at;
    return hash;
}

/* Whether the Bloom filter of TABLE allows a symbol of HASH. */
static bool
may_have(const struct elf_symbols *table, uint32_t hash)
{
    uint64_t word;
    uint64_t place = table->bloom + hash / 64 % table->bloom_count * 8ull;
    uint32_t second = hash >> (table->bloom_shift & 31);
    return sys_copy_memory(&word, place, sizeof(word)) &&
           (word >> hash % 64 & 1) != 0 && (word >> second % 64 & 1) != 0;
}

/* Whether symbol NUMBER of TABLE is NAME and is defined. */
static bool
is_symbol(const struct elf_symbols *table, uint32_t number, const char *name,
          Elf64_Sym *symbol)
{
    char text[NAME_MAX_LENGTH];
    size_t length = strlen(name) + 1;
    return length <= sizeof(text) &&
           sys_copy_memory(symbol, table->symbols + number * sizeof(*symbol),
                           sizeof(*symbol)) &&
           symbol->st_shndx != SHN_UNDEF &&
           sys_copy_memory(text, table->strings + symbol->st_name, length) &&
           memcmp(text, name, length) == 0;
}

/* The number of the symbol NAME in TABLE, and the symbol. 0: the module does
 * not export it. */
static uint32_t
find_symbol(const struct elf_symbols *table, const char *name,
            Elf64_Sym *symbol)
{
    uint32_t hash = hash_of(name), number, word = 0;
    if (!may_have(table, hash) ||
        !sys_copy_memory(&number,
                         table->buckets + hash % table->bucket_count * 4ull,
                         sizeof(number)) ||
        number < table->first)
        return 0;
    /* The last symbol of a bucket has bit 0 in its word. */
    for (uint32_t i = 0; i < CHAIN_MAX && (word & 1) == 0; i++, number++) {
        if (!sys_copy_memory(&word,
                             table->chains + (number - table->first) * 4ull,
                             sizeof(word)))
            return 0;
        if ((word | 1) == (hash | 1) && is_symbol(table, number, name, symbol))
            return number;
    }
    return 0;
}

bool
elf_symbols_find(const struct elf_symbols *table, const char *name,
                 uint64_t *address, uint64_t *size)
{
    Elf64_Sym symbol;
    if (find_symbol(table, name, &symbol) == 0)
        return false;
    *address = table->base + symbol.st_value;
    *size = symbol.st_size;
    return true;
}

bool
elf_symbols_find_local(const struct elf_symbols *table, const char *name,
                       uint32_t *number, uint64_t *offset)
{
    Elf64_Sym symbol;
    *number = find_symbol(table, name, &symbol);
    if (*number == 0 || ELF64_ST_TYPE(symbol.st_info) != STT_TLS)
        return false;
    *offset = symbol.st_value;
    return true;
}
