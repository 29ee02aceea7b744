/* SPDX-License-Identifier: MIT */
/*
 * elf_view.c -- see elf_view.h. The file may be damaged. Every offset is
 * compared with the size before it is followed. A structure that is not aligned
 * as its type requires is not used.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elf_view.h"

/* All files are below this directory; "": this machine's. */
static const char *root = "";

void
elf_view_set_root(const char *new_root)
{
    root = new_root != NULL ? new_root : "";
}

const char *
elf_view_place(const char *path, char text[PATH_MAX])
{
    size_t length = strlen(root), size = strlen(path) + 1;
    if (length == 0 || path[0] != '/' || strncmp(path, root, length) == 0 ||
        strncmp(path, "/proc/", 6) == 0 || length + size > PATH_MAX)
        return path;
    memcpy(text, root, length);
    memcpy(text + length, path, size);
    return text;
}

int
elf_view_open_file(const char *path)
{
    char text[PATH_MAX];
    int fd = open(elf_view_place(path, text),
                  O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return -1;
    struct stat status;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode))
        return fd;
    close(fd);
    errno = EINVAL;
    return -1;
}

static bool
lies_within(const struct elf_view *view, uint64_t offset, uint64_t size)
{
    return offset <= view->size && size <= view->size - offset;
}

/* COUNT structures of SIZE bytes, aligned to 8, at OFFSET. */
static const void *
array_at(const struct elf_view *view, uint64_t offset, uint64_t count,
         size_t size)
{
    if (count > view->size / size || offset % 8 != 0 ||
        !lies_within(view, offset, count * size))
        return NULL;
    return view->bytes + offset;
}

static int
map_file(struct elf_view *view, const char *path)
{
    void *bytes = MAP_FAILED;
    int fd = elf_view_open_file(path);
    if (fd < 0)
        return -1;
    struct stat status;
    if (fstat(fd, &status) == 0 && status.st_size > (off_t)sizeof(Elf64_Ehdr))
        bytes =
            mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (bytes == MAP_FAILED)
        return -1;
    view->bytes = bytes;
    view->size = (size_t)status.st_size;
    view->is_mapped = true;
    return 0;
}

/* The vdso lies in memory as it would in a file. Its section headers come
 * last. */
static int
find_vdso(struct elf_view *view)
{
    const Elf64_Ehdr *header = (const void *)getauxval(AT_SYSINFO_EHDR);
    if (header == NULL || header->e_ident[EI_CLASS] != ELFCLASS64)
        return -1;
    view->bytes = (const void *)header;
    view->size =
        header->e_shoff + (size_t)header->e_shentsize * header->e_shnum;
    return 0;
}

/* Find the section headers. Files with 65,280 sections or more store the number
 * elsewhere; they are left to libelf. */
static int
find_sections(struct elf_view *view)
{
    static const uint8_t magic[] = {0x7f, 'E',        'L',
                                    'F',  ELFCLASS64, ELFDATA2LSB};
    const Elf64_Ehdr *header = (const void *)view->bytes;
    if (memcmp(header->e_ident, magic, sizeof(magic)) != 0 ||
        header->e_shentsize != sizeof(Elf64_Shdr) || header->e_shoff == 0 ||
        header->e_shnum == 0 || header->e_shstrndx >= header->e_shnum)
        return -1;
    view->sections =
        array_at(view, header->e_shoff, header->e_shnum, sizeof(Elf64_Shdr));
    if (view->sections == NULL)
        return -1;
    view->count = header->e_shnum;
    view->names = &view->sections[header->e_shstrndx];
    return 0;
}

int
elf_view_open(struct elf_view *view, const char *path)
{
    *view = (struct elf_view){0};
    if ((strcmp(path, "[vdso]") == 0 ? find_vdso(view)
                                     : map_file(view, path)) == 0 &&
        find_sections(view) == 0)
        return 0;
    elf_view_close(view);
    return -1;
}

int
elf_view_open_memory(struct elf_view *view, const void *bytes, size_t size)
{
    *view = (struct elf_view){.bytes = bytes, .size = size};
    if (bytes != NULL && size > sizeof(Elf64_Ehdr) &&
        (uintptr_t)bytes % 8 == 0 && find_sections(view) == 0)
        return 0;
    elf_view_close(view);
    return -1;
}

const Elf64_Shdr *
elf_view_code(const struct elf_view *view, uint64_t address)
{
    for (size_t i = 1; i < view->count; i++) {
        const Elf64_Shdr *section = &view->sections[i];
        if ((section->sh_flags & SHF_EXECINSTR) != 0 &&
            address >= section->sh_addr &&
            address - section->sh_addr < section->sh_size)
            return section;
    }
    return NULL;
}

struct bytes
elf_view_content(const struct elf_view *view, const Elf64_Shdr *section)
{
    struct bytes bytes = {NULL, NULL};
    if (section->sh_type == SHT_NOBITS ||
        !lies_within(view, section->sh_offset, section->sh_size))
        return bytes;
    bytes.at = view->bytes + section->sh_offset;
    bytes.end = bytes.at + section->sh_size;
    return bytes;
}

const char *
elf_view_name(const struct elf_view *view, const Elf64_Shdr *section)
{
    struct bytes names = elf_view_content(view, view->names);
    bytes_skip(&names, section->sh_name);
    return names.at != NULL ? bytes_text(&names) : "";
}

const Elf64_Shdr *
elf_view_section(const struct elf_view *view, const char *name)
{
    for (size_t i = 1; i < view->count; i++) {
        if (strcmp(elf_view_name(view, &view->sections[i]), name) == 0)
            return &view->sections[i];
    }
    return NULL;
}

struct bytes
elf_view_build_id(const struct elf_view *view)
{
    static const uint8_t head[] = {4, 0, 0, 0};
    const Elf64_Shdr *section = elf_view_section(view, ".note.gnu.build-id");
    struct bytes note = {NULL, NULL};
    if (section != NULL)
        note = elf_view_content(view, section);
    if (note.at == NULL || note.end - note.at < 16 ||
        memcmp(note.at, head, sizeof(head)) != 0 ||
        memcmp(note.at + 12, "GNU", 4) != 0)
        return (struct bytes){NULL, NULL};
    bytes_skip(&note, 4);
    uint64_t size = bytes_number(&note, 4);
    if (bytes_number(&note, 4) != NT_GNU_BUILD_ID)
        return (struct bytes){NULL, NULL};
    bytes_skip(&note, 4);
    if (size > (uint64_t)(note.end - note.at))
        return (struct bytes){NULL, NULL};
    note.end = note.at + size;
    return note;
}

bool
elf_view_has_build_id(const struct elf_view *view, const uint8_t *build_id,
                      size_t length)
{
    struct bytes found = elf_view_build_id(view);
    return length == 0 ||
           (found.at != NULL && (size_t)(found.end - found.at) == length &&
            memcmp(found.at, build_id, length) == 0);
}

bool
elf_view_symbols(const struct elf_view *view, const char *name,
                 struct elf_view_symbols *symbols)
{
    const Elf64_Shdr *section = elf_view_section(view, name);
    if (section == NULL || section->sh_entsize != sizeof(Elf64_Sym) ||
        section->sh_link >= view->count || section->sh_offset % 8 != 0)
        return false;
    struct bytes content = elf_view_content(view, section);
    struct bytes strings =
        elf_view_content(view, &view->sections[section->sh_link]);
    /* The last text must have an end. */
    if (content.at == NULL || strings.at == NULL || strings.at == strings.end ||
        strings.end[-1] != '\0')
        return false;
    symbols->all = (const void *)content.at;
    symbols->count = (size_t)(content.end - content.at) / sizeof(Elf64_Sym);
    symbols->strings = strings;
    return true;
}

const char *
elf_view_symbol_name(const struct elf_view_symbols *symbols,
                     const Elf64_Sym *symbol)
{
    size_t size = (size_t)(symbols->strings.end - symbols->strings.at);
    return symbol->st_name < size
               ? (const char *)symbols->strings.at + symbol->st_name
               : "";
}

/* The program headers; *COUNT is 0 if none are usable. */
static const Elf64_Phdr *
find_segments(const struct elf_view *view, size_t *count)
{
    const Elf64_Ehdr *header = (const void *)view->bytes;
    const Elf64_Phdr *segments =
        header->e_phentsize == sizeof(Elf64_Phdr)
            ? array_at(view, header->e_phoff, header->e_phnum,
                       sizeof(Elf64_Phdr))
            : NULL;
    *count = segments != NULL ? header->e_phnum : 0;
    return segments;
}

uint64_t
elf_view_first_address(const struct elf_view *view)
{
    size_t count;
    const Elf64_Phdr *segments = find_segments(view, &count);
    for (size_t i = 0; i < count; i++) {
        if (segments[i].p_type == PT_LOAD)
            return segments[i].p_vaddr & -segments[i].p_align;
    }
    return UINT64_MAX;
}

uint64_t
elf_view_address(const struct elf_view *view, uint64_t offset)
{
    size_t count;
    const Elf64_Phdr *segments = find_segments(view, &count), *found = NULL;
    for (size_t i = 0; i < count; i++) {
        const Elf64_Phdr *at = &segments[i];
        uint64_t start = at->p_offset & -at->p_align;
        if (at->p_type == PT_LOAD && offset >= start &&
            offset - start < at->p_offset - start + at->p_filesz &&
            (found == NULL || (at->p_flags & PF_X) != 0))
            found = at;
    }
    return found != NULL ? found->p_vaddr - found->p_offset + offset
                         : UINT64_MAX;
}

void
elf_view_close(struct elf_view *view)
{
    if (view->is_mapped)
        munmap((void *)view->bytes, view->size);
    *view = (struct elf_view){0};
}
