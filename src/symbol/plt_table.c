/* SPDX-License-Identifier: MIT */
/* plt_table.c -- see plt_table.h. */
#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "plt_table.h"

/* Bytes of a usual stub, and of aarch64's common head. */
enum { STUB_SIZE = 16, HEAD_SIZE = 32 };

/* A word of the GOT, and the relocation by which the loader fills it. */
struct plt_slot {
    uint64_t address;
    Elf64_Rela relocation;
    const Elf64_Shdr *symbols; /* the symbol table that RELOCATION refers to */
};

/* How the stubs lie in a section: offset of the first one, and size of each, in
 * bytes. */
struct stubs {
    uint64_t first, size;
};

/* struct machine: those of .plt.got may have 8 bytes. */
static struct stubs
stubs_of_x86_64(const Elf64_Shdr *section, struct bytes content)
{
    (void)content;
    return (struct stubs){0, section->sh_entsize == 8 ? 8 : STUB_SIZE};
}

/* struct machine: a jump through a word is ff 25 and a 32-bit distance. Lazy
 * stubs of IBT binaries have no such jump. They run once and stay without a
 * name. */
static uint64_t
slot_of_x86_64(const uint8_t *stub, size_t size, uint64_t start)
{
    for (size_t i = 0; i + 6 <= size; i++) {
        if (stub[i] != 0xff || stub[i + 1] != 0x25)
            continue;
        /* The distance counts from the next instruction: ff 25 e2 2f 00 00 at
         * 0x1030 jumps through the word at 0x4018. */
        int32_t distance;
        memcpy(&distance, stub + i + 2, sizeof(distance));
        return start + i + 6 + (uint64_t)(int64_t)distance;
    }
    return 0;
}

/* Whether the words at BYTES begin a jump through a word of the GOT: adrp x16
 * names the page of the word, and ldr x17 the place in the page. */
static bool
is_jump_of_aarch64(const uint8_t *bytes, uint32_t words[2])
{
    memcpy(words, bytes, 2 * sizeof(*words));
    return (words[0] & 0x9f00001fu) == 0x90000010u &&
           (words[1] & 0xffc003ffu) == 0xf9400211u;
}

/* struct machine: with landing pads or signed pointers a stub has 24 bytes. The
 * distance of the first two jumps after the common head shows it. */
static struct stubs
stubs_of_aarch64(const Elf64_Shdr *section, struct bytes content)
{
    uint64_t size = (uint64_t)(content.end - content.at), jump = 0;
    uint32_t words[2];
    (void)section;
    for (uint64_t at = HEAD_SIZE; at + sizeof(words) <= size; at += 4) {
        if (!is_jump_of_aarch64(content.at + at, words))
            continue;
        if (jump != 0)
            return (struct stubs){HEAD_SIZE, at - jump};
        jump = at;
    }
    return (struct stubs){HEAD_SIZE, size > HEAD_SIZE ? size - HEAD_SIZE : 1};
}

/* struct machine. */
static uint64_t
slot_of_aarch64(const uint8_t *stub, size_t size, uint64_t start)
{
    uint32_t words[2];
    for (size_t i = 0; i + sizeof(words) <= size; i += 4) {
        if (!is_jump_of_aarch64(stub + i, words))
            continue;
        uint64_t pages =
            (uint64_t)(words[0] >> 5 & 0x7ffff) << 2 | (words[0] >> 29 & 3);
        uint64_t distance = (uint64_t)((int64_t)(pages << 43) >> 43) << 12;
        return ((start + i) & ~4095ull) + distance +
               (uint64_t)(words[1] >> 10 & 0xfff) * 8;
    }
    return 0;
}

/* Everything that depends on the machine that a file is for. */
static const struct machine {
    unsigned number;                           /* e_machine */
    uint32_t jump_slot, global_data, indirect; /* types of relocations */
    /* The beginning of the section's stubs, and the size of each. */
    struct stubs (*stubs_of)(const Elf64_Shdr *section, struct bytes content);
    /* The address of the word through which the stub of SIZE bytes at START
     * jumps. 0 if it has none. */
    uint64_t (*slot_of)(const uint8_t *stub, size_t size, uint64_t start);
} machines[] = {{EM_X86_64, R_X86_64_JUMP_SLOT, R_X86_64_GLOB_DAT,
                 R_X86_64_IRELATIVE, stubs_of_x86_64, slot_of_x86_64},
                {EM_AARCH64, R_AARCH64_JUMP_SLOT, R_AARCH64_GLOB_DAT,
                 R_AARCH64_IRELATIVE, stubs_of_aarch64, slot_of_aarch64}};

/* The row for FILE's machine. NULL: its stubs are not understood, or the file
 * is missing. */
static const struct machine *
find_machine(const struct elf_view *file)
{
    const Elf64_Ehdr *header = (const void *)file->bytes;
    for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
        if (header != NULL && header->e_machine == machines[i].number)
            return &machines[i];
    return NULL;
}

static int
compare_slots(const void *a, const void *b)
{
    const struct plt_slot *x = a, *y = b;
    return (x->address > y->address) - (x->address < y->address);
}

static const Elf64_Shdr *
section_at(const struct elf_view *file, uint64_t number)
{
    return number < file->count ? &file->sections[number] : NULL;
}

/* Add the slots that the relocations of SECTION fill with a function's address.
 */
static int
read_section(struct plt_table *table, const struct elf_view *file,
             const Elf64_Shdr *section)
{
    const struct machine *machine = find_machine(file);
    struct plt_slot slot = {.symbols = section_at(file, section->sh_link)};
    struct bytes at = elf_view_content(file, section);
    for (; at.at != NULL; bytes_skip(&at, sizeof(slot.relocation))) {
        if ((size_t)(at.end - at.at) < sizeof(slot.relocation))
            break;
        memcpy(&slot.relocation, at.at, sizeof(slot.relocation));
        slot.address = slot.relocation.r_offset;
        uint32_t type = ELF64_R_TYPE(slot.relocation.r_info);
        if (type != machine->jump_slot && type != machine->global_data &&
            type != machine->indirect)
            continue;
        if (!ARRAY_GROW(table->slots, table->count))
            return -1;
        table->slots[table->count++] = slot;
    }
    return 0;
}

/* Read all relocations that the loader applies. A stub has the address of its
 * slot and not its number, so the slots are sorted by address. */
static int
read_table(struct plt_table *table, const struct elf_view *file)
{
    for (size_t i = 1; i < file->count; i++) {
        const Elf64_Shdr *section = &file->sections[i];
        if (section->sh_type == SHT_RELA &&
            (section->sh_flags & SHF_ALLOC) != 0 &&
            read_section(table, file, section) != 0)
            return -1;
    }
    if (table->count != 0)
        qsort(table->slots, table->count, sizeof(*table->slots), compare_slots);
    return 0;
}

/* The name of the symbol that SLOT is for; "" if it has none. */
static const char *
name_of(const struct elf_view *file, const struct plt_slot *slot)
{
    uint64_t number = ELF64_R_SYM(slot->relocation.r_info);
    const Elf64_Shdr *strings =
        slot->symbols != NULL ? section_at(file, slot->symbols->sh_link) : NULL;
    if (strings == NULL)
        return "";
    struct bytes at = elf_view_content(file, slot->symbols);
    Elf64_Sym symbol;
    if (at.at == NULL || number >= (size_t)(at.end - at.at) / sizeof(symbol))
        return "";
    memcpy(&symbol, at.at + number * sizeof(symbol), sizeof(symbol));
    struct bytes names = elf_view_content(file, strings);
    bytes_skip(&names, symbol.st_name);
    return bytes_text(&names);
}

/* The PLT section of FILE that holds ADDRESS; NULL if none does. */
static const Elf64_Shdr *
find_plt(const struct elf_view *file, uint64_t address)
{
    for (size_t i = 1; i < file->count; i++) {
        const Elf64_Shdr *section = &file->sections[i];
        if (address >= section->sh_addr &&
            address - section->sh_addr < section->sh_size &&
            section->sh_type == SHT_PROGBITS &&
            strncmp(elf_view_name(file, section), ".plt", 4) == 0)
            return section;
    }
    return NULL;
}

/* The slot through which the stub at ADDRESS in SECTION jumps. NULL if none is
 * known. */
static const struct plt_slot *
find_slot(const struct plt_table *table, const struct elf_view *file,
          const Elf64_Shdr *section, uint64_t address)
{
    const struct machine *machine = find_machine(file);
    struct bytes content = elf_view_content(file, section);
    struct plt_slot key = {0};
    if (content.at == NULL || table->count == 0)
        return NULL;
    struct stubs stubs = machine->stubs_of(section, content);
    uint64_t offset = address - section->sh_addr;
    if (offset < stubs.first)
        return NULL;
    uint64_t start =
        stubs.first + (offset - stubs.first) / stubs.size * stubs.size;
    if (start + stubs.size > (uint64_t)(content.end - content.at))
        return NULL;
    key.address = machine->slot_of(content.at + start, stubs.size,
                                   section->sh_addr + start);
    return bsearch(&key, table->slots, table->count, sizeof(key),
                   compare_slots);
}

int
plt_table_find(struct plt_table *table, const struct elf_view *file,
               uint64_t address, struct plt_target *target)
{
    const struct machine *machine = find_machine(file);
    const Elf64_Shdr *section =
        machine != NULL ? find_plt(file, address) : NULL;
    if (section == NULL)
        return -1;
    if (!table->is_read) {
        table->is_read = true;
        if (read_table(table, file) != 0) {
            plt_table_free(table);
            table->is_read = true;
        }
    }
    const struct plt_slot *slot = find_slot(table, file, section, address);
    if (slot == NULL)
        return -1;
    *target = (struct plt_target){0};
    if (ELF64_R_TYPE(slot->relocation.r_info) == machine->indirect) {
        target->resolver = (uint64_t)slot->relocation.r_addend;
        return 0;
    }
    const char *name = name_of(file, slot);
    if (*name != '\0')
        target->name = name;
    return *name != '\0' ? 0 : -1;
}

void
plt_table_free(struct plt_table *table)
{
    free(table->slots);
    *table = (struct plt_table){0};
}
