/* SPDX-License-Identifier: MIT */
/*
 * image.c -- puts the parts of a file together. Report side.
 *
 * Everything that grows with the size of the file is read once, when the file
 * is opened: the symbols and the units' ranges. A missing part is not an error.
 * A file without DWARF still has symbols, and a file without symbols may have
 * DWARF.
 */
#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "elf_file.h"
#include "symbol_table.h"
#include "unit_index.h"
#include "frame_table.h"
#include "image.h"

/*
 * The targets of the stubs in a procedure linkage table. Stubs have no symbols,
 * but each jumps through a word that a relocation fills in. The order of stubs
 * is not always that of the relocations: .plt.got, .plt.sec and stubs for
 * IFUNCs differ. So the stub is read, and the relocation for its word has the
 * name.
 */
struct plt_table {
    bool is_read;
    struct plt_slot *slots; /* sorted by address */
    size_t count;
};

/* The function that a stub jumps to. */
struct plt_target {
    const char *name;  /* NULL: RESOLVER tells it */
    uint64_t resolver; /* address of the function that chooses it (IFUNC) */
};

/* A word of the GOT, and the relocation by which the loader fills it. */
struct plt_slot {
    uint64_t address;
    Elf64_Rela relocation;
    const Elf64_Shdr *symbols; /* the symbol table that RELOCATION refers to */
};

struct image {
    struct elf_file file;
    struct symbol_table symbols;
    struct plt_table plt;
    struct frame_table frames;
    struct unit_index units;
    /* PLT and FRAMES read the file through this view. In an image that was
     * opened briefly, the names of SYMBOLS point into it too. */
    struct sketch sketch;
};

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

/* struct machine: adrp x16 names the page of the word, and ldr x17 the place in
 * the page. */
static uint64_t
slot_of_aarch64(const uint8_t *stub, size_t size, uint64_t start)
{
    uint32_t words[2];
    for (size_t i = 0; i + sizeof(words) <= size; i += 4) {
        memcpy(words, stub + i, sizeof(words));
        if ((words[0] & 0x9f00001fu) != 0x90000010u ||
            (words[1] & 0xffc003ffu) != 0xf9400211u)
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
    uint64_t stub_size;                        /* in bytes */
    uint32_t jump_slot, global_data, indirect; /* types of relocations */
    /* The address of the word through which the stub of SIZE bytes at START
     * jumps. 0 if there is none. */
    uint64_t (*slot_of)(const uint8_t *stub, size_t size, uint64_t start);
} machines[] = {{EM_X86_64, 16, R_X86_64_JUMP_SLOT, R_X86_64_GLOB_DAT,
                 R_X86_64_IRELATIVE, slot_of_x86_64},
                {EM_AARCH64, 16, R_AARCH64_JUMP_SLOT, R_AARCH64_GLOB_DAT,
                 R_AARCH64_IRELATIVE, slot_of_aarch64}};

/* The row for FILE's machine. NULL: its stubs are not understood, or there is
 * no file. */
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

/* Read all relocations that the loader applies. A stub tells the address of its
 * slot and never its number, so the slots are sorted by address. */
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

/* The PLT section of FILE that ADDRESS lies in; NULL if it is in none. */
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
 * known. Stubs have the usual size, but those of .plt.got may have 8 bytes. */
static const struct plt_slot *
find_slot(const struct plt_table *table, const struct elf_view *file,
          const Elf64_Shdr *section, uint64_t address)
{
    const struct machine *machine = find_machine(file);
    uint64_t size = section->sh_entsize == 8 ? 8 : machine->stub_size;
    uint64_t start = (address - section->sh_addr) / size * size;
    struct bytes content = elf_view_content(file, section);
    struct plt_slot key = {0};
    if (content.at == NULL ||
        start + size > (uint64_t)(content.end - content.at) ||
        table->count == 0)
        return NULL;
    key.address =
        machine->slot_of(content.at + start, size, section->sh_addr + start);
    return bsearch(&key, table->slots, table->count, sizeof(key),
                   compare_slots);
}

static void
free_plt(struct plt_table *table)
{
    free(table->slots);
    *table = (struct plt_table){.is_read = table->is_read};
}

/* Find the target of FILE's stub at ADDRESS. The relocations of FILE are read
 * at the first question for an address in a PLT. Returns 0, or -1 if no stub is
 * known there: it is the section's common head or another machine's code, or
 * memory is short. */
static int
find_target(struct plt_table *table, const struct elf_view *file,
            uint64_t address, struct plt_target *target)
{
    const struct machine *machine = find_machine(file);
    const Elf64_Shdr *section =
        machine != NULL ? find_plt(file, address) : NULL;
    if (section == NULL)
        return -1;
    if (!table->is_read) {
        table->is_read = true;
        if (read_table(table, file) != 0)
            free_plt(table);
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

/* The name for ADDRESS in a PLT; NULL if unknown. A stub for an IFUNC of the
 * same file has no name, but the function that chooses the target has the same
 * one. */
static const char *
find_stub(struct image *image, uint64_t address)
{
    struct plt_target target;
    if (find_target(&image->plt, &image->sketch.file, address, &target) != 0)
        return NULL;
    if (target.name != NULL)
        return target.name;
    return symbol_table_find(&image->symbols, target.resolver);
}

struct image *
image_open(const char *path, const uint8_t *build_id, size_t length)
{
    struct image *image = calloc(1, sizeof(*image));
    if (image != NULL &&
        elf_file_open(&image->file, path, build_id, length) == 0) {
        size_t size;
        const char *bytes = elf_rawfile(image->file.elf, &size);
        if (elf_view_open_memory(&image->sketch.file, bytes, size) == 0)
            frame_table_read(&image->frames, &image->sketch.file);
        if (symbol_table_read(&image->symbols, &image->file) != 0 ||
            unit_index_read(&image->units, &image->file) != 0) {
            image_close(image);
            return NULL;
        }
    }
    return image;
}

struct image *
image_open_brief(struct sketch *sketch, const struct symbol_question *questions,
                 size_t count)
{
    struct image *image = calloc(1, sizeof(*image));
    if (image == NULL) {
        sketch_close(sketch);
        return NULL;
    }
    image->sketch = *sketch;
    frame_table_read(&image->frames, &image->sketch.file);
    if (sketch_read(&image->sketch, questions, count, &image->symbols) != 0) {
        image_close(image);
        return NULL;
    }
    return image;
}

/* Whether a symbol or the DWARF names the function that owns the code. */
static bool
has_name(const struct image_answer *answer)
{
    return answer->symbol != NULL ||
           (answer->count > 0 &&
            answer->frames[answer->count - 1].name != NULL);
}

/* The PLT is asked last, only for addresses that neither DWARF nor symbols
 * cover: finding its section means reading all section headers. */
void
image_find(struct image *image, uint64_t address, struct image_answer *answer,
           unsigned limit)
{
    answer->symbol = symbol_table_find(&image->symbols, address);
    answer->is_stub = false;
    answer->start = address;
    answer->count =
        unit_index_find(&image->units, address, answer->frames, limit);
    if (!has_name(answer) && answer->count == 0) {
        answer->symbol = find_stub(image, address);
        answer->is_stub = answer->symbol != NULL;
    }
    uint64_t end;
    if (!has_name(answer))
        frame_table_find(&image->frames, address, &answer->start, &end);
}

const char *
image_problem(const struct image *image)
{
    if (image->file.module != NULL || image->sketch.symbols.all != NULL)
        return NULL;
    return image->file.problem != NULL
               ? image->file.problem
               : "memory was short for a module's symbols";
}

unsigned
image_flags(const struct image *image)
{
    return (image->symbols.ranges.count > 0 ? SYMBOLIZER_SYMBOLS : 0u) |
           (image->units.has_lines ? SYMBOLIZER_LINES : 0u);
}

void
image_close(struct image *image)
{
    if (image == NULL)
        return;
    unit_index_free(&image->units);
    free_plt(&image->plt);
    symbol_table_free(&image->symbols);
    sketch_close(&image->sketch);
    elf_file_close(&image->file);
    free(image);
}
