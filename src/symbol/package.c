/* SPDX-License-Identifier: MIT */
/*
 * package.c -- see package.h. Report side.
 *
 * libdw takes no path of a unit's split half: it opens the file that the
 * skeleton names. So libdw gets skeletons of our own. They are in a file in
 * memory that has the same tables of addresses. All of them name one descriptor
 * of this process. Before libdw is asked for a unit's half, that descriptor
 * becomes the .dwo that was taken out for it.
 *
 * A package is found by its name and has no build-id. The compiler makes an id
 * for each unit from its contents. The skeletons are in a file that was
 * checked, and name the ids that they need.
 */
#include <dwarf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/arch.h"
#include "util/array.h"
#include "util/clean.h"
#include "elf_view.h"
#include "sections.h"
#include "package.h"

#define SUFFIX ".dwp"
/* Limit of the bytes of texts that one unit copies, as a multiple of the
 * section's size. Some linkers let one text end in another. */
#define MOST_REPEATED 4

/* Versions of the index. */
#define VERSION_GNU 2
#define VERSION_5 5
/* Limit of the steps of one search in it. A table is at most two thirds full,
 * so more steps mean damage. */
#define MOST_STEPS 10000

struct package_skeleton {
    uint64_t id;
    Dwarf_Off entry; /* its offset in the file of skeletons */
    bool is_placed;  /* its half has been put at its place */
};

/* The shapes of the skeletons' entries. The first is DW_TAG_skeleton_unit with
 * DW_AT_dwo_name, DW_AT_low_pc and DW_AT_addr_base. The second is
 * DW_TAG_compile_unit with DW_AT_GNU_dwo_name, DW_AT_GNU_dwo_id, DW_AT_low_pc,
 * DW_AT_GNU_addr_base and DW_AT_GNU_ranges_base. */
static const uint8_t shapes[] = {
    1,    0x4a, 0,    0x76, 0x08, 0x11, 0x01, 0x73, 0x17, 0,    0,
    2,    0x11, 0,    0xb0, 0x42, 0x08, 0xb1, 0x42, 0x07, 0x11, 0x01,
    0xb3, 0x42, 0x17, 0xb2, 0x42, 0x17, 0,    0,    0,
};

/* The numbers of sections in the columns. Both forms have the same numbers,
 * except the last, which only DWARF 5 has. */
enum package_part {
    PACKAGE_INFO = 1,
    PACKAGE_ABBREV = 3,
    PACKAGE_TEXTS = 6, /* their offsets */
    PACKAGE_RANGES = 8
};

/*
 * A hash table from ids to rows: .debug_cu_index, DWARF 5, section 7.3.5.3.
 * Each row and column gives the beginning and the length of that section of the
 * unit. No number in it can be trusted: a place outside of the section reads as
 * nothing. The form that GNU tools write for DWARF 4 has another version number
 * and other columns.
 */
struct index {
    bool is_version_5;
    uint32_t columns, rows, slots;
    struct bytes ids, row_numbers, parts, offsets, sizes;
};

static uint32_t
number_at(const struct bytes *table, uint64_t place)
{
    struct bytes number = bytes_from(table, place * sizeof(uint32_t));
    return (uint32_t)bytes_number(&number, sizeof(uint32_t));
}

/* Find the tables in SECTION. False if it is damaged or of another form. */
static bool
read_index(struct index *index, const struct bytes *section)
{
    struct bytes at = *section;
    uint32_t version = (uint32_t)bytes_number(&at, 4) & 0xffff;
    index->is_version_5 = version == VERSION_5;
    index->columns = (uint32_t)bytes_number(&at, 4);
    index->rows = (uint32_t)bytes_number(&at, 4);
    index->slots = (uint32_t)bytes_number(&at, 4);
    uint64_t cells = (uint64_t)index->rows * index->columns;
    index->ids = at;
    bytes_skip(&at, (uint64_t)index->slots * 8);
    index->row_numbers = at;
    bytes_skip(&at, (uint64_t)index->slots * 4);
    index->parts = at;
    bytes_skip(&at, (uint64_t)index->columns * 4);
    index->offsets = at;
    /* The numbers may promise more cells than 32 bits can count. */
    if (cells > UINT32_MAX)
        return false;
    bytes_skip(&at, cells * 4);
    index->sizes = at;
    bytes_skip(&at, cells * 4);
    return at.at != NULL && index->slots > 0 &&
           (index->slots & (index->slots - 1)) == 0 &&
           (version == VERSION_GNU || version == VERSION_5);
}

/* The row of the unit ID, counted from 1. 0 if the unit is not in the package.
 * A slot whose row is 0 ends the search. */
static uint32_t
row_of_unit(const struct index *index, uint64_t id)
{
    uint64_t mask = index->slots - 1, slot = id & mask;
    uint64_t step = ((id >> 32) & mask) | 1;
    for (uint32_t i = 0; i < index->slots && i < MOST_STEPS;
         i++, slot = (slot + step) & mask) {
        struct bytes at = bytes_from(&index->ids, slot * 8);
        uint32_t row = number_at(&index->row_numbers, slot);
        if (row == 0)
            return 0;
        if (bytes_number(&at, 8) == id)
            return row <= index->rows ? row : 0;
    }
    return 0;
}

/* The bytes of the unit in ROW in SECTION, which is PART. AT is NULL if it has
 * none. */
static struct bytes
cut_part(const struct index *index, uint32_t row, enum package_part part,
         const struct bytes *section)
{
    for (uint32_t i = 0; i < index->columns; i++) {
        uint64_t cell = (uint64_t)(row - 1) * index->columns + i;
        if (number_at(&index->parts, i) != part)
            continue;
        struct bytes found =
            bytes_from(section, number_at(&index->offsets, cell));
        struct bytes after = bytes_from(&found, number_at(&index->sizes, cell));
        if (after.at == NULL)
            break;
        found.end = after.at;
        return found;
    }
    return (struct bytes){0};
}

/* The size of offsets in the unit or table at AT, which begins with its length
 * (DWARF 5, section 7.4). *HEADER gets the size of that length. */
static unsigned
offset_size(struct bytes at, unsigned *header)
{
    bool is_large = bytes_number(&at, 4) == UINT32_MAX;
    *header = is_large ? 12 : 4;
    return is_large ? 8 : 4;
}

/* Returns the text at OFFSET in TEXTS if it has at most *LEFT bytes with its
 * zero, and subtracts them from *LEFT. Otherwise returns "" and sets *LEFT to
 * 0. */
static const char *
take_text(const struct bytes *texts, uint64_t offset, uint64_t *left)
{
    struct bytes at = bytes_from(texts, offset);
    if (at.at != NULL && (uint64_t)(at.end - at.at) > *left)
        at.end = at.at + *left;
    const char *text = bytes_text(&at);
    *left = at.at != NULL ? *left - (strlen(text) + 1) : 0;
    return text;
}

/*
 * Copy the texts that TABLE names to TEXTS, and write a table of their new
 * offsets to OFFSETS.
 *
 * The texts of all units lie in one section, and each unit has a table of
 * offsets. A unit has each text once, and at most all texts of the section. A
 * table that comes to many times more is damaged, and the rest of it becomes
 * "". False if memory is short.
 */
static bool
copy_texts(const struct package *package, const struct bytes *table,
           unsigned header, unsigned size, FILE *texts, FILE *offsets)
{
    uint64_t all = (uint64_t)(package->texts.end - package->texts.at);
    uint64_t left = MOST_REPEATED * all;
    struct bytes at = *table;
    fputc('\0', texts);
    fwrite(at.at, 1, header, offsets);
    bytes_skip(&at, header);
    while (at.at != NULL && (size_t)(at.end - at.at) >= size) {
        const char *text =
            take_text(&package->texts, bytes_number(&at, size), &left);
        uint64_t to = *text != '\0' ? (uint64_t)ftell(texts) : 0;
        if (*text != '\0')
            fwrite(text, 1, strlen(text) + 1, texts);
        fwrite(&to, 1, size, offsets);
    }
    return fflush(texts) == 0 && fflush(offsets) == 0;
}

/* A file in memory: FILE writes to TEXT, which has SIZE bytes. */
struct stream {
    FILE *file;
    char *text;
    size_t size;
};

static bool
stream_open(struct stream *stream)
{
    *stream = (struct stream){0};
    stream->file = open_memstream(&stream->text, &stream->size);
    return stream->file != NULL;
}

static struct bytes
stream_bytes(const struct stream *stream)
{
    const uint8_t *start = (const uint8_t *)stream->text;
    return (struct bytes){start, start + stream->size};
}

static void
stream_close(struct stream *stream)
{
    if (stream->file != NULL)
        fclose(stream->file);
    free(stream->text);
}

struct memory_section {
    const char *name;
    struct bytes bytes;
};

static bool
add_section(Elf *elf, Elf64_Word name, Elf64_Word type,
            const struct bytes *bytes)
{
    Elf_Scn *section = elf_newscn(elf);
    Elf64_Shdr *header = section != NULL ? elf64_getshdr(section) : NULL;
    Elf_Data *data = header != NULL ? elf_newdata(section) : NULL;
    if (data == NULL)
        return false;
    header->sh_name = name;
    header->sh_type = type;
    data->d_buf = (void *)(uintptr_t)bytes->at;
    data->d_size = (size_t)(bytes->end - bytes->at);
    data->d_type = ELF_T_BYTE;
    data->d_align = 1;
    return true;
}

/* Write NAME to the section of names. Returns its place there. */
static Elf64_Word
add_name(FILE *names, const char *name)
{
    long at = ftell(names);
    fwrite(name, 1, strlen(name) + 1, names);
    return (Elf64_Word)at;
}

/* Add the sections, and at the end the section of their NAMES. Returns false on
 * failure. */
static bool
add_sections(Elf *elf, const struct memory_section *sections, size_t count,
             struct stream *names)
{
    add_name(names->file, "");
    for (size_t i = 0; i < count; i++) {
        if (sections[i].bytes.at != NULL &&
            !add_section(elf, add_name(names->file, sections[i].name),
                         SHT_PROGBITS, &sections[i].bytes))
            return false;
    }
    Elf64_Word at = add_name(names->file, ".shstrtab");
    if (fflush(names->file) != 0)
        return false;
    struct bytes all = stream_bytes(names);
    return add_section(elf, at, SHT_STRTAB, &all);
}

static bool
write_file(Elf *elf, const struct memory_section *sections, size_t count)
{
    Elf64_Ehdr *header = elf != NULL ? elf64_newehdr(elf) : NULL;
    struct stream names;
    if (header == NULL || !stream_open(&names))
        return false;
    /* A type without relocations. The sections are read for no machine. */
    header->e_type = ET_NONE;
    header->e_machine = ARCH_MACHINE;
    header->e_version = EV_CURRENT;
    header->e_ident[EI_DATA] = ELFDATA2LSB;
    size_t last;
    bool done = add_sections(elf, sections, count, &names) &&
                elf_getshdrnum(elf, &last) == 0;
    if (done) {
        header->e_shstrndx = (Elf64_Half)(last - 1);
        done = elf_update(elf, ELF_C_WRITE) > 0;
    }
    stream_close(&names);
    return done;
}

/* Write a file of COUNT sections, for libdw, which reads only files. Sections
 * with AT NULL are left out. Returns its descriptor (memfd_create(2), Linux
 * 3.17), or -1. */
static int
make_file(const struct memory_section *sections, size_t count)
{
    int fd = memfd_create("elf", MFD_CLOEXEC);
    if (fd < 0)
        return -1;
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(fd, ELF_C_WRITE, NULL);
    bool done = write_file(elf, sections, count);
    elf_end(elf);
    if (done)
        return fd;
    close(fd);
    return -1;
}

/* Write the .dwo of the unit in ROW. Returns its descriptor, or -1. */
static int
write_unit(const struct package *package, const struct index *index,
           uint32_t row)
{
    struct bytes info = cut_part(index, row, PACKAGE_INFO, &package->info);
    struct bytes table =
        cut_part(index, row, PACKAGE_TEXTS, &package->text_offsets);
    struct stream texts, offsets = {0};
    unsigned header, size = offset_size(info, &header);
    int fd = -1;
    /* Only in DWARF 5 the table has a header: length, version and padding. */
    header = index->is_version_5 && table.at != NULL ? header + 4 : 0;
    if (info.at == NULL || table.end - table.at < header)
        return -1;
    if (stream_open(&texts) && stream_open(&offsets) &&
        copy_texts(package, &table, header, size, texts.file, offsets.file)) {
        struct memory_section sections[] = {
            {".debug_info.dwo", info},
            {".debug_abbrev.dwo",
             cut_part(index, row, PACKAGE_ABBREV, &package->abbrev)},
            {".debug_str.dwo", stream_bytes(&texts)},
            {".debug_str_offsets.dwo", stream_bytes(&offsets)},
            {".debug_rnglists.dwo",
             cut_part(index, row, PACKAGE_RANGES, &package->ranges)},
        };
        fd = make_file(sections, sizeof(sections) / sizeof(*sections));
    }
    stream_close(&texts);
    stream_close(&offsets);
    return fd;
}

/* The .dwo that SKELETON names, in the directory of the compiler, or beside the
 * file or its debug file, as libdw looks for it. The caller frees the path.
 * NULL if it is missing. */
static char *
find_dwo(const struct package *package, Dwarf_Die *skeleton)
{
    Dwarf_Attribute attribute;
    const char *name =
        dwarf_formstring(dwarf_attr(skeleton, DW_AT_dwo_name, &attribute));
    if (name == NULL)
        name = dwarf_formstring(
            dwarf_attr(skeleton, DW_AT_GNU_dwo_name, &attribute));
    const char *directory =
        dwarf_formstring(dwarf_attr(skeleton, DW_AT_comp_dir, &attribute));
    for (unsigned i = 0; name != NULL && i < 3; i++) {
        char *path = NULL;
        if (i < 2)
            path = elf_file_beside(package->owner, i > 0, name);
        else if (directory != NULL)
            path = clean_format("%s/%s", directory, name);
        int fd = path != NULL ? elf_view_open_file(path) : -1;
        if (fd >= 0) {
            close(fd);
            return path;
        }
        free(path);
    }
    return NULL;
}

/* Write the .dwo of SKELETON once more, inflated. Returns its descriptor, or
 * -1. libdw compares the unit's id. */
static int
write_inflated(const struct package *package, Dwarf_Die *skeleton)
{
    static const char *const names[] = {".debug_info.dwo", ".debug_abbrev.dwo",
                                        ".debug_str.dwo",
                                        ".debug_str_offsets.dwo",
                                        ".debug_rnglists.dwo"};
    enum { COUNT = sizeof(names) / sizeof(*names) };
    struct memory_section sections[COUNT];
    struct inflated file = {0};
    char *path = find_dwo(package, skeleton);
    int from = path != NULL ? elf_view_open_file(path) : -1, to = -1;
    if (from >= 0 && inflate_open(&file, from)) {
        for (size_t i = 0; i < COUNT; i++)
            sections[i] =
                (struct memory_section){names[i],
                                        sections_find(file.elf, names[i])};
        to = sections[0].bytes.at != NULL ? make_file(sections, COUNT) : -1;
        elf_file_note_unread(package->owner, path, file.elf);
    }
    inflate_free(&file);
    if (from >= 0)
        close(from);
    free(path);
    return to;
}

static void
put_number(FILE *file, uint64_t number, size_t size)
{
    fwrite(&number, 1, size, file);
}

static uint64_t
offset_of(Dwarf_Die *die, unsigned name)
{
    Dwarf_Word offset = 0;
    Dwarf_Attribute attribute;
    if (dwarf_attr(die, name, &attribute) == NULL ||
        dwarf_formudata(&attribute, &offset) != 0)
        return 0;
    return offset;
}

/* Write a unit with only what the split half of SKELETON needs and the path of
 * that half. Returns the offset of its entry. */
static Dwarf_Off
write_skeleton(const struct package *package, Dwarf_Die *skeleton,
               unsigned version, uint64_t id, FILE *file)
{
    bool is_5 = version >= 5;
    Dwarf_Addr low = 0;
    char place[32];
    snprintf(place, sizeof(place), "/proc/self/fd/%d", package->place);
    size_t length = strlen(place) + 1;
    (void)dwarf_lowpc(skeleton, &low);
    put_number(file, (is_5 ? 29 : 32) + length, 4); /* bytes that follow */
    put_number(file, version, 2);
    if (is_5) {
        put_number(file, DW_UT_skeleton, 1);
        put_number(file, sizeof(low), 1);
    }
    put_number(file, 0, 4); /* offset in SHAPES */
    if (is_5)
        put_number(file, id, 8);
    else
        put_number(file, sizeof(low), 1);
    Dwarf_Off entry = (Dwarf_Off)ftell(file);
    put_number(file, is_5 ? 1 : 2, 1);
    fwrite(place, 1, length, file);
    if (!is_5)
        put_number(file, id, 8);
    put_number(file, low, sizeof(low));
    put_number(file,
               offset_of(skeleton,
                         is_5 ? DW_AT_addr_base : DW_AT_GNU_addr_base),
               4);
    if (!is_5)
        put_number(file, offset_of(skeleton, DW_AT_GNU_ranges_base), 4);
    return entry;
}

static int
compare_ids(const void *a, const void *b)
{
    uint64_t x = ((const struct package_skeleton *)a)->id;
    uint64_t y = ((const struct package_skeleton *)b)->id;
    return (x > y) - (x < y);
}

/* Write all skeletons, and list them by id. False if memory is short. */
static bool
write_skeletons(struct package *package, FILE *file)
{
    Dwarf_CU *unit = NULL;
    Dwarf_Half version;
    Dwarf_Die die;
    uint8_t type;
    while (dwarf_get_units(package->dwarf, unit, &unit, &version, &type, &die,
                           NULL) == 0) {
        uint64_t id;
        if (type != DW_UT_skeleton ||
            dwarf_cu_info(unit, NULL, NULL, NULL, NULL, &id, NULL, NULL) != 0)
            continue;
        if (!ARRAY_GROW(package->list, package->count))
            return false;
        package->list[package->count++] = (struct package_skeleton){
            .id = id,
            .entry = write_skeleton(package, &die, version, id, file)};
    }
    qsort(package->list, package->count, sizeof(*package->list), compare_ids);
    return fflush(file) == 0;
}

static void
make_skeletons(struct package *package)
{
    Elf *elf = dwarf_getelf(package->dwarf);
    int fd = -1;
    struct stream units;
    if (stream_open(&units) && write_skeletons(package, units.file)) {
        struct memory_section sections[] = {
            {".debug_info", stream_bytes(&units)},
            {".debug_abbrev", {shapes, shapes + sizeof(shapes)}},
            {".debug_addr", sections_find(elf, ".debug_addr")},
            {".debug_ranges", sections_find(elf, ".debug_ranges")},
        };
        fd = make_file(sections, sizeof(sections) / sizeof(*sections));
    }
    stream_close(&units);
    if (fd < 0)
        return;
    package->skeletons = dwarf_begin(fd, DWARF_C_READ);
    if (package->skeletons != NULL)
        elf_cntl(dwarf_getelf(package->skeletons), ELF_C_FDDONE);
    close(fd);
}

void
package_open(struct package *package, struct elf_file *file, Dwarf *dwarf)
{
    *package = (struct package){.owner = file,
                                .dwarf = dwarf,
                                .place = memfd_create("dwo", MFD_CLOEXEC)};
    char *path;
    int fd = elf_file_open_beside(file, SUFFIX, &path);
    if (fd < 0)
        return;
    (void)inflate_open(&package->file, fd);
    elf_cntl(package->file.elf, ELF_C_FDREAD);
    close(fd);
    elf_file_note_unread(file, path, package->file.elf);
    free(path);
    package->index = sections_find(package->file.elf, ".debug_cu_index");
    package->info = sections_find(package->file.elf, ".debug_info.dwo");
    package->abbrev = sections_find(package->file.elf, ".debug_abbrev.dwo");
    package->texts = sections_find(package->file.elf, ".debug_str.dwo");
    package->text_offsets =
        sections_find(package->file.elf, ".debug_str_offsets.dwo");
    package->ranges = sections_find(package->file.elf, ".debug_rnglists.dwo");
}

/* Take the unit ID of SKELETON out of the package or its own .dwo, and put it
 * at the descriptor that our skeleton names. False if that is not possible. */
static bool
place_unit(const struct package *package, Dwarf_Die *skeleton, uint64_t id)
{
    struct index index;
    uint32_t row =
        read_index(&index, &package->index) ? row_of_unit(&index, id) : 0;
    int fd = row > 0 ? write_unit(package, &index, row)
                     : write_inflated(package, skeleton);
    if (fd < 0)
        return false;
    bool done = dup3(fd, package->place, O_CLOEXEC) >= 0;
    close(fd);
    return done;
}

bool
package_find(struct package *package, const Dwarf_Die *skeleton,
             Dwarf_Die *body)
{
    struct package_skeleton key = {0};
    if (package->dwarf == NULL || package->place < 0 ||
        dwarf_cu_info(skeleton->cu, NULL, NULL, NULL, NULL, &key.id, NULL,
                      NULL) != 0)
        return false;
    if (package->skeletons == NULL) {
        package_rest(package); /* free what a failed attempt left */
        make_skeletons(package);
    }
    struct package_skeleton *found =
        package->count > 0 ? bsearch(&key, package->list, package->count,
                                     sizeof(*package->list), compare_ids)
                           : NULL;
    Dwarf_Die die, own = *skeleton;
    if (found == NULL || package->skeletons == NULL ||
        dwarf_offdie(package->skeletons, found->entry, &die) == NULL)
        return false;
    /* libdw looks for the half at the first question, and keeps it. */
    if (!found->is_placed)
        found->is_placed = place_unit(package, &own, key.id);
    return found->is_placed &&
           dwarf_cu_info(die.cu, NULL, NULL, NULL, body, NULL, NULL, NULL) ==
               0 &&
           body->addr != NULL;
}

void
package_rest(struct package *package)
{
    dwarf_end(package->skeletons);
    free(package->list);
    package->skeletons = NULL;
    package->list = NULL;
    package->count = 0;
}

void
package_close(struct package *package)
{
    package_rest(package);
    if (package->dwarf != NULL && package->place >= 0)
        close(package->place);
    inflate_free(&package->file);
    *package = (struct package){0};
}
