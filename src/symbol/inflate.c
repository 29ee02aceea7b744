/* SPDX-License-Identifier: MIT */
/*
 * inflate.c -- inflates sections before libdw reads them. Report side.
 *
 * Distributions compress their debug files. libdw spends most of its time on
 * inflating all sections one after the other. That includes the locations of
 * variables, a third of the whole. Before elfutils 0.189 it does not know zstd.
 * Here each thread takes the next section, the largest first. The headers and
 * data of libelf's private copy are changed, so that libdw notices nothing. The
 * file keeps its path, because libdw looks for other files near it.
 */
#include <gelf.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "util/array.h"
#include "parallel.h"
#include "sections.h"
#include "inflate.h"

#define MOST_SECTIONS 1000
/* The largest number of bytes that zlib can make of one byte. More is damage:
 * zstd could make more, but not of debug information. */
#define MOST_GROWTH 1032
#define ALIGNMENT 16

/* A section to inflate. */
struct piece {
    Elf_Scn *section;
    const uint8_t *from;
    size_t from_size, size, offset;
    unsigned type;
    bool is_done;
};

struct job {
    struct piece *pieces; /* the largest first */
    size_t count, size;
    uint8_t *bytes;
    atomic_size_t next; /* of the pieces */
};

/* Whether the section HEADER called NAME has debug information and is
 * compressed. Others do not concern this program. */
static bool
is_compressed_debug(const GElf_Shdr *header, const char *name)
{
    return (header->sh_flags & SHF_COMPRESSED) != 0 &&
           header->sh_type != SHT_NOBITS && strncmp(name, ".debug_", 7) == 0;
}

static bool
is_left_out(const char *name)
{
    return strcmp(name, ".debug_loc") == 0 ||
           strcmp(name, ".debug_loclists") == 0 ||
           strcmp(name, ".debug_macro") == 0;
}

/* Replace the contents of SECTION by the SIZE inflated bytes at BYTES; NULL: it
 * becomes empty. */
static void
replace_section(Elf_Scn *section, uint8_t *bytes, size_t size)
{
    Elf_Data *both[] = {elf_getdata(section, NULL), elf_rawdata(section, NULL)};
    GElf_Shdr header;
    if (both[0] == NULL || both[1] == NULL ||
        gelf_getshdr(section, &header) == NULL)
        return;
    for (unsigned i = 0; i < 2; i++) {
        both[i]->d_buf = bytes;
        both[i]->d_size = size;
    }
    header.sh_flags &= ~(GElf_Xword)SHF_COMPRESSED;
    header.sh_size = size;
    if (bytes == NULL)
        header.sh_type = SHT_NOBITS;
    gelf_update_shdr(section, &header);
}

/* Read the compression header that PIECE begins with, and its inflated size.
 * False if that size is impossible, or the format is unknown. */
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
    piece->type = header.ch_type;
    return (piece->type == ELFCOMPRESS_ZLIB || piece->type == INFLATE_ZSTD) &&
           header.ch_size > 0 &&
           header.ch_size / MOST_GROWTH <= piece->from_size;
}

/* Plan the place of SECTION, which is compressed. A section that cannot be
 * inflated is skipped. */
static void
add_section(struct job *job, Elf_Scn *section)
{
    Elf_Data *data = elf_rawdata(section, NULL);
    struct piece piece = {.section = section, .offset = job->size};
    if (data == NULL || data->d_buf == NULL || job->count == MOST_SECTIONS)
        return;
    piece.from = data->d_buf;
    piece.from_size = data->d_size;
    if (!read_header(&piece) || !ARRAY_GROW(job->pieces, job->count))
        return;
    job->pieces[job->count++] = piece;
    job->size += (piece.size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* For qsort: the largest first. */
static int
compare_sizes(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;
    return (x->size < y->size) - (x->size > y->size);
}

/* Find the compressed debug information in ELF. Returns whether it has any. */
static bool
plan(struct job *job, Elf *elf)
{
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    const char *name;
    bool is_compressed = false;
    while ((section = sections_next(elf, section, &header, &name)) != NULL) {
        if (!is_compressed_debug(&header, name))
            continue;
        is_compressed = true;
        if (is_left_out(name))
            replace_section(section, NULL, 0);
        else
            add_section(job, section);
    }
    if (job->count > 0)
        qsort(job->pieces, job->count, sizeof(*job->pieces), compare_sizes);
    return is_compressed;
}

/* The work of one thread: take pieces until none is left. */
static void *
inflate_pieces(void *argument)
{
    struct job *job = argument;
    size_t i;
    while ((i = atomic_fetch_add(&job->next, 1)) < job->count) {
        struct piece *piece = &job->pieces[i];
        uint8_t *to = job->bytes + piece->offset;
        piece->is_done =
            piece->type == INFLATE_ZSTD
                ? unpack_zstd(to, piece->size, piece->from, piece->from_size)
                : unpack(to, piece->size, piece->from, piece->from_size);
    }
    return NULL;
}

/* Inflate all pieces. Large pages save the kernel thousands of faults. */
static void
inflate_all(struct job *job)
{
    job->bytes = mmap(NULL, job->size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (job->bytes == MAP_FAILED) {
        job->bytes = NULL;
        return;
    }
    madvise(job->bytes, job->size, MADV_HUGEPAGE);
    parallel_run(inflate_pieces, job, job->count);
    for (size_t i = 0; i < job->count; i++) {
        const struct piece *piece = &job->pieces[i];
        if (piece->is_done)
            replace_section(piece->section, job->bytes + piece->offset,
                            piece->size);
    }
}

bool
inflate_open(struct inflated *inflated, int fd)
{
    struct job job = {0};
    bool is_compressed = false;
    /* Private pages: the headers are changed in place. */
    Elf *elf = elf_begin(fd, ELF_C_READ_MMAP_PRIVATE, NULL);
    if (elf_kind(elf) == ELF_K_ELF && gelf_getclass(elf) == ELFCLASS64)
        is_compressed = plan(&job, elf);
    if (job.count > 0)
        inflate_all(&job);
    free(job.pieces);
    *inflated = (struct inflated){elf, job.bytes, job.size};
    return is_compressed;
}

unsigned
inflate_left(Elf *elf)
{
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    const char *name;
    while ((section = sections_next(elf, section, &header, &name)) != NULL) {
        GElf_Chdr compression;
        if (is_compressed_debug(&header, name) &&
            gelf_getchdr(section, &compression) != NULL)
            return compression.ch_type;
    }
    return 0;
}

void
inflate_free(struct inflated *inflated)
{
    elf_end(inflated->elf);
    if (inflated->bytes != NULL)
        munmap(inflated->bytes, inflated->size);
    *inflated = (struct inflated){0};
}
