/* SPDX-License-Identifier: MIT */
/*
 * inflate.c -- inflates sections before libdw reads them. Report side.
 *
 * Distributions compress their debug files. libdw spends most of its time on
 * inflating all sections one after the other. That includes the locations of
 * variables, a third of the whole. Here each thread takes the next section, the
 * largest first. The result has the form of a file, so that libdw notices
 * nothing.
 */
#include <gelf.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "parallel.h"
#include "inflate.h"

#define MOST_SECTIONS 1000
/* Most bytes that zlib can make of one byte. More is damage. */
#define MOST_GROWTH 1032
#define ALIGNMENT 16

/* A section that is copied or inflated. */
struct piece {
    const uint8_t *from;
    size_t from_size, size, offset;
    bool is_compressed;
};

struct copy {
    Elf *elf;
    uint8_t *bytes; /* of the new file */
    size_t size, headers;
    struct piece *pieces; /* the largest first */
    Elf64_Shdr *sections;
    size_t count, section_count, compressed;
    atomic_size_t next; /* of the pieces */
    atomic_bool failed;
};

static size_t
align(size_t offset)
{
    return (offset + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* Whether a section called NAME refers to other files, which libdw looks for in
 * the file's directory. */
static bool
is_bound(const char *name)
{
    return strcmp(name, ".gnu_debugaltlink") == 0 ||
           strcmp(name, ".debug_addr") == 0;
}

static bool
is_left_out(const char *name)
{
    return strcmp(name, ".debug_loc") == 0 ||
           strcmp(name, ".debug_loclists") == 0 ||
           strcmp(name, ".debug_macro") == 0;
}

/* Read the compression header that PIECE begins with, and its inflated size.
 * False if that size is impossible, or the format is not zlib's. */
static bool
read_header(struct piece *piece)
{
    Elf64_Chdr header;
    if (piece->from_size < sizeof(header))
        return false;
    memcpy(&header, piece->from, sizeof(header));
    piece->from += sizeof(header);
    piece->from_size -= sizeof(header);
    piece->size = header.ch_size;
    piece->is_compressed = true;
    return header.ch_type == ELFCOMPRESS_ZLIB &&
           header.ch_size / MOST_GROWTH <= piece->from_size;
}

/* Plan the place of SECTION. False if it cannot be inflated. */
static bool
add_section(struct copy *copy, Elf_Scn *section, size_t strings)
{
    Elf64_Shdr *header = &copy->sections[copy->section_count++];
    struct piece *piece = &copy->pieces[copy->count];
    if (gelf_getshdr(section, header) == NULL)
        return false;
    if (header->sh_type == SHT_NOBITS || header->sh_type == SHT_NULL)
        return true;
    Elf_Data *data = elf_rawdata(section, NULL);
    const char *name = elf_strptr(copy->elf, strings, header->sh_name);
    if (data == NULL || name == NULL || is_bound(name))
        return false;
    if (data->d_buf == NULL)
        return data->d_size == 0;
    *piece = (struct piece){.from = data->d_buf,
                            .from_size = data->d_size,
                            .size = data->d_size};
    if ((header->sh_flags & SHF_COMPRESSED) != 0) {
        if (!read_header(piece))
            return false;
        copy->compressed++;
        header->sh_flags &= ~(Elf64_Xword)SHF_COMPRESSED;
    }
    header->sh_size = piece->size;
    if (is_left_out(name)) {
        header->sh_type = SHT_NOBITS;
        return true;
    }
    piece->offset = header->sh_offset = copy->size;
    copy->size = align(copy->size + piece->size);
    copy->count++;
    return true;
}

static int
compare_sizes(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;
    return (x->size < y->size) - (x->size > y->size);
}

/* Lay out the new file. False if nothing is compressed, or it cannot be done.
 */
static bool
plan_file(struct copy *copy)
{
    Elf_Scn *section = NULL;
    size_t count, strings, segments;
    if (elf_kind(copy->elf) != ELF_K_ELF ||
        gelf_getclass(copy->elf) != ELFCLASS64 ||
        elf_getshdrnum(copy->elf, &count) != 0 || count > MOST_SECTIONS ||
        elf_getshdrstrndx(copy->elf, &strings) != 0 ||
        elf_getphdrnum(copy->elf, &segments) != 0)
        return false;
    copy->sections = calloc(count + 1, sizeof(*copy->sections));
    copy->pieces = calloc(count + 1, sizeof(*copy->pieces));
    if (copy->sections == NULL || copy->pieces == NULL)
        return false;
    copy->section_count = 1;
    copy->size = align(sizeof(Elf64_Ehdr) + segments * sizeof(Elf64_Phdr));
    while ((section = elf_nextscn(copy->elf, section)) != NULL) {
        if (copy->section_count == count ||
            !add_section(copy, section, strings))
            return false;
    }
    copy->headers = copy->size;
    copy->size += copy->section_count * sizeof(Elf64_Shdr);
    qsort(copy->pieces, copy->count, sizeof(*copy->pieces), compare_sizes);
    return copy->compressed > 0;
}

/* Write the headers of the new file. False if the old ones are damaged. */
static bool
write_headers(struct copy *copy)
{
    Elf64_Ehdr header;
    size_t segments;
    if (gelf_getehdr(copy->elf, &header) == NULL ||
        elf_getphdrnum(copy->elf, &segments) != 0)
        return false;
    header.e_phoff = segments > 0 ? sizeof(header) : 0;
    header.e_shoff = copy->headers;
    memcpy(copy->bytes, &header, sizeof(header));
    for (size_t i = 0; i < segments; i++) {
        Elf64_Phdr segment;
        if (gelf_getphdr(copy->elf, (int)i, &segment) == NULL)
            return false;
        memcpy(copy->bytes + sizeof(header) + i * sizeof(segment), &segment,
               sizeof(segment));
    }
    /* Section 0 counts sections and segments where the header has no room. */
    gelf_getshdr(elf_getscn(copy->elf, 0), &copy->sections[0]);
    memcpy(copy->bytes + copy->headers, copy->sections,
           copy->section_count * sizeof(Elf64_Shdr));
    return true;
}

/* Allocate the new file. Large pages save the kernel thousands of faults. */
static bool
allocate_file(struct copy *copy)
{
    copy->bytes = mmap(NULL, copy->size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (copy->bytes == MAP_FAILED)
        copy->bytes = NULL;
    else
        madvise(copy->bytes, copy->size, MADV_HUGEPAGE);
    return copy->bytes != NULL;
}

static bool
write_piece(const struct copy *copy, const struct piece *piece)
{
    uint8_t *to = copy->bytes + piece->offset;
    if (piece->is_compressed)
        return unpack(to, piece->size, piece->from, piece->from_size);
    memcpy(to, piece->from, piece->size);
    return true;
}

/* The work of one thread: take pieces until none is left. */
static void *
write_pieces(void *argument)
{
    struct copy *copy = argument;
    size_t i;
    while ((i = atomic_fetch_add(&copy->next, 1)) < copy->count) {
        if (!write_piece(copy, &copy->pieces[i]))
            copy->failed = true;
    }
    return NULL;
}

bool
inflate_file(struct inflated *inflated, int fd)
{
    struct copy copy = {0};
    bool done = false;
    copy.elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    if (copy.elf != NULL && plan_file(&copy) && allocate_file(&copy) &&
        write_headers(&copy)) {
        parallel_run(write_pieces, &copy, copy.compressed);
        done = !copy.failed;
    }
    *inflated = (struct inflated){.bytes = copy.bytes, .size = copy.size};
    if (done)
        inflated->elf = elf_memory(inflated->bytes, inflated->size);
    if (inflated->elf == NULL)
        inflate_free(inflated);
    elf_end(copy.elf);
    free(copy.sections);
    free(copy.pieces);
    return inflated->elf != NULL;
}

void
inflate_free(struct inflated *inflated)
{
    elf_end(inflated->elf);
    if (inflated->bytes != NULL)
        munmap(inflated->bytes, inflated->size);
    *inflated = (struct inflated){0};
}
