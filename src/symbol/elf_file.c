/* SPDX-License-Identifier: MIT */
/*
 * elf_file.c -- opens the file that an address belongs to. Report side.
 *
 * Each file has a Dwfl of its own and is reported at base 0. Modules of
 * different processes may overlap; a single file never overlaps. libdwfl finds
 * the debug information wherever it is: in the file, by build-id, by
 * .gnu_debuglink, in .gnu_debugdata, compressed or not. It asks a debuginfod
 * server if the user named one.
 *
 * The path comes from a spool, which may be damaged or from another machine.
 * The open cannot block. The file is used only if it is a regular file with the
 * recorded build-id.
 */
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "util/clean.h"
#include "util/number.h"
#include "debug_server.h"
#include "elf_view.h"
#include "sections.h"
#include "elf_file.h"

#define LONGEST_BUILD_ID 64

/* Where libdwfl looks for debug files; NULL: where it does by itself. */
static char *debug_path;

static const Dwfl_Callbacks callbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = debug_server_find,
    .section_address = dwfl_offline_section_address,
    .debuginfo_path = &debug_path,
};

/* Open this process's vdso as a file of its own. Returns a descriptor, or -1
 * with errno set. */
static int
open_vdso(void)
{
    struct elf_view vdso;
    errno = ENOENT;
    int fd = elf_view_open(&vdso, "[vdso]") == 0
                 ? memfd_create("vdso", MFD_CLOEXEC)
                 : -1;
    if (fd >= 0 && write(fd, vdso.bytes, vdso.size) != (ssize_t)vdso.size) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* Write BUILD_ID to TEXT, shortened if it is long. */
static const char *
show_build_id(const uint8_t *build_id, size_t length, char *text)
{
    if (length == 0)
        return "none";
    return number_hexadecimal(build_id,
                              length < LONGEST_BUILD_ID ? length
                                                        : LONGEST_BUILD_ID,
                              text);
}

/* Check that the file on disk is the one that was mapped. Returns 0, or -1 with
 * FILE's problem set. */
static int
check_build_id(struct elf_file *file, Dwfl_Module *module, const char *path,
               const uint8_t *build_id, size_t length)
{
    const unsigned char *found = NULL;
    if (length == 0)
        return 0;
    GElf_Addr address;
    int size = dwfl_module_build_id(module, &found, &address);
    if (size > 0 && (size_t)size == length &&
        memcmp(found, build_id, length) == 0)
        return 0;
    char found_text[2 * LONGEST_BUILD_ID + 1];
    char wanted_text[2 * LONGEST_BUILD_ID + 1];
    file->problem = clean_format(
        "%s is not the file that was profiled: its build-id is %s, recorded "
        "was %s",
        path, show_build_id(found, size > 0 ? (size_t)size : 0, found_text),
        show_build_id(build_id, length, wanted_text));
    return -1;
}

/* Make a module for FD, which libdwfl owns from then on. NULL if FD is not
 * usable. */
static Dwfl_Module *
report_module(struct elf_file *file, const char *path, int fd)
{
    file->dwfl = dwfl_begin(&callbacks);
    if (file->dwfl == NULL) {
        close(fd);
        return NULL;
    }
    dwfl_report_begin(file->dwfl);
    Dwfl_Module *module = dwfl_report_elf(file->dwfl, path, path, fd, 0, true);
    if (module == NULL)
        close(fd);
    if (dwfl_report_end(file->dwfl, NULL, NULL) != 0 || module == NULL)
        return NULL;
    file->elf = dwfl_module_getelf(module, &file->bias);
    return file->elf != NULL ? module : NULL;
}

int
elf_file_set_root(const char *root)
{
    /* libdwfl skips folders that do not begin with a slash. */
    char *full = root != NULL ? realpath(root, NULL) : NULL;
    elf_view_set_root(root);
    free(debug_path);
    debug_path =
        full != NULL ? clean_format(":.debug:%s/usr/lib/debug", full) : NULL;
    free(full);
    return root != NULL && debug_path == NULL ? -1 : 0;
}

int
elf_file_open(struct elf_file *file, const char *path, const uint8_t *build_id,
              size_t length)
{
    *file = (struct elf_file){0};
    int fd =
        strcmp(path, "[vdso]") == 0 ? open_vdso() : elf_view_open_file(path);
    if (fd < 0) {
        file->problem = clean_format(
            "%s cannot be read: %s%s", path, strerror(errno),
            errno == ENOENT
                ? " (a deleted file is read while its process lives)"
                : "");
        return -1;
    }
    /* Debug files are searched beside it. */
    char text[PATH_MAX];
    Dwfl_Module *module = report_module(file, elf_view_place(path, text), fd);
    if (module == NULL) {
        file->problem = clean_format("%s is not a usable ELF file: %s", path,
                                     dwfl_errmsg(-1));
        return -1;
    }
    if (check_build_id(file, module, path, build_id, length) != 0)
        return -1;
    file->module = module;
    return 0;
}

/* The address of the first segment that is loaded; UINT64_MAX if none is. */
static uint64_t
first_address(Elf *elf)
{
    size_t count;
    if (elf_getphdrnum(elf, &count) != 0)
        return UINT64_MAX;
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr segment;
        if (gelf_getphdr(elf, (int)i, &segment) != NULL &&
            segment.p_type == PT_LOAD)
            return segment.p_vaddr & -segment.p_align;
    }
    return UINT64_MAX;
}

void
elf_file_note_unread(struct elf_file *file, const char *path, Elf *elf)
{
    unsigned type = inflate_left(elf);
    if (type == 0)
        return;
    bool is_damaged = type == ELFCOMPRESS_ZLIB ||
                      (type == INFLATE_ZSTD && unpack_zstd_is_there());
    free(file->unread);
    if (is_damaged)
        file->unread = clean_format(
            "compressed debug sections of %s are damaged: lines are missing",
            path);
    else if (type == INFLATE_ZSTD)
        file->unread = clean_format(
            "the debug sections of %s are compressed by zstd, which this build "
            "cannot read: `objcopy --decompress-debug-sections %s` would help, "
            "or a build with libzstd",
            path, path);
    else
        file->unread = clean_format(
            "the debug sections of %s are compressed by method %u, which is "
            "unknown here: `objcopy --decompress-debug-sections %s` would help",
            path, type, path);
}

static bool
has_section(Elf *elf, const char *name)
{
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    const char *found = "";
    while ((section = sections_next(elf, section, &header, &found)) != NULL &&
           strcmp(found, name) != 0)
        continue;
    return section != NULL;
}

/* Whether ELF has compilation units. A stripped file may have other debug
 * sections. */
static bool
has_units(Elf *elf)
{
    return has_section(elf, ".debug_info");
}

/* The DWARF of FD (may be -1), which is the file at PATH, inflated here. NULL
 * if it has none, or numbers its addresses differently. If it is not
 * compressed, it is left to libdwfl unless IS_ANY. */
static Dwarf *
read_dwarf(struct elf_file *file, int fd, const char *path, bool is_any)
{
    if (fd < 0)
        return NULL;
    if ((inflate_open(&file->copy, fd) || is_any) &&
        has_units(file->copy.elf) &&
        first_address(file->copy.elf) == first_address(file->elf)) {
        file->dwarf = dwarf_begin_elf(file->copy.elf, DWARF_C_READ, NULL);
        /* A newer libdw may have inflated more. */
        elf_file_note_unread(file, path, file->copy.elf);
    }
    elf_cntl(file->copy.elf, ELF_C_FDREAD);
    close(fd);
    if (file->dwarf == NULL)
        inflate_free(&file->copy);
    return file->dwarf;
}

static Dwarf *
inflated_dwarf(struct elf_file *file, const char *path)
{
    int fd = path != NULL ? elf_view_open_file(path) : -1;
    return read_dwarf(file, fd, path, false);
}

/* The DWARF of the separate debug file, if libdwfl would not look for it. libdw
 * takes a file with one of these two sections for one with DWARF, even without
 * units. */
static Dwarf *
separate_dwarf(struct elf_file *file)
{
    if (has_units(file->elf) || (!has_section(file->elf, ".debug_frame") &&
                                 !has_section(file->elf, ".debug_line")))
        return NULL;
    void **data;
    Dwarf_Addr base;
    GElf_Word check = 0;
    const char *main_path;
    char *path = NULL;
    const char *link = dwelf_elf_gnu_debuglink(file->elf, &check);
    const char *name = dwfl_module_info(file->module, &data, &base, NULL, NULL,
                                        NULL, &main_path, NULL);
    /* An error of an earlier call would end libdwfl's search. */
    errno = 0;
    int fd = debug_server_find(file->module, data, name, base, main_path, link,
                               check, &path);
    Dwarf *dwarf = read_dwarf(file, fd, path, true);
    free(path);
    return dwarf;
}

/* The DWARF of the file, or of the debug file that libdwfl has found, if it
 * must be inflated. */
static Dwarf *
own_dwarf(struct elf_file *file)
{
    const char *main_path, *path = NULL;
    dwfl_module_info(file->module, NULL, NULL, NULL, NULL, NULL, &main_path,
                     &path);
    Dwarf *dwarf = inflated_dwarf(file, path);
    if (dwarf == NULL && inflate_left(file->elf) != 0)
        dwarf = inflated_dwarf(file, main_path);
    return dwarf;
}

char *
elf_file_beside(const struct elf_file *file, bool is_debug_file,
                const char *name)
{
    const char *paths[2] = {NULL};
    dwfl_module_info(file->module, NULL, NULL, NULL, NULL, NULL, &paths[0],
                     &paths[1]);
    const char *path = paths[is_debug_file] != NULL ? paths[is_debug_file] : "";
    const char *slash = name[0] != '/' ? strrchr(path, '/') : NULL;
    return clean_format("%.*s%s", slash != NULL ? (int)(slash + 1 - path) : 0,
                        path, name);
}

/* Open the file NAME, which should lie beside FILE or its debug file, if it has
 * BUILD_ID of LENGTH bytes. */
static int
open_shared(struct elf_file *file, const char *name, const void *build_id,
            size_t length)
{
    const void *found;
    for (int i = 1; i >= 0; i--) {
        char *full = elf_file_beside(file, i != 0, name);
        int fd = full != NULL ? elf_view_open_file(full) : -1;
        free(full);
        if (fd < 0)
            continue;
        (void)inflate_open(&file->shared, fd);
        elf_cntl(file->shared.elf, ELF_C_FDREAD);
        close(fd);
        if (dwelf_elf_gnu_build_id(file->shared.elf, &found) ==
                (ssize_t)length &&
            memcmp(found, build_id, length) == 0)
            return 0;
        inflate_free(&file->shared);
    }
    return -1;
}

/* Attach to DWARF the parts that it shares with other files (dwz(1)), if libdw
 * cannot read these. */
static void
add_shared(struct elf_file *file, Dwarf *dwarf)
{
    const char *name;
    const void *build_id;
    ssize_t length = dwarf != NULL
                         ? dwelf_dwarf_gnu_debugaltlink(dwarf, &name, &build_id)
                         : 0;
    if (length <= 0 || dwarf_getalt(dwarf) != NULL ||
        open_shared(file, name, build_id, (size_t)length) != 0)
        return;
    file->shared_dwarf = dwarf_begin_elf(file->shared.elf, DWARF_C_READ, NULL);
    if (file->shared_dwarf != NULL)
        dwarf_setalt(dwarf, file->shared_dwarf);
}

/* The DWARF as libdwfl finds and reads it. If parts are missing, they are
 * inflated here: the debug file is known now. */
static Dwarf *
found_dwarf(struct elf_file *file, uint64_t *bias)
{
    Dwarf_Addr dwarf_bias = 0;
    Dwarf *found = dwfl_module_getdwarf(file->module, &dwarf_bias);
    bool is_whole = found != NULL && inflate_left(dwarf_getelf(found)) == 0;
    if (!is_whole && own_dwarf(file) != NULL)
        return file->dwarf;
    if (is_whole) {
        free(file->unread);
        file->unread = NULL;
    }
    *bias = file->bias - dwarf_bias;
    return found;
}

Dwarf *
elf_file_dwarf(struct elf_file *file, uint64_t *bias)
{
    *bias = 0;
    Dwarf *dwarf = own_dwarf(file);
    if (dwarf == NULL)
        dwarf = separate_dwarf(file);
    if (dwarf == NULL)
        dwarf = found_dwarf(file, bias);
    add_shared(file, dwarf);
    return dwarf;
}

int
elf_file_open_beside(const struct elf_file *file, const char *suffix,
                     char **path)
{
    const char *paths[2] = {NULL};
    dwfl_module_info(file->module, NULL, NULL, NULL, NULL, NULL, &paths[0],
                     &paths[1]);
    for (size_t i = 0; i < 2; i++) {
        if (paths[i] == NULL || asprintf(path, "%s%s", paths[i], suffix) < 0)
            continue;
        int fd = elf_view_open_file(*path);
        if (fd >= 0)
            return fd;
        free(*path);
    }
    return -1;
}

void
elf_file_close(struct elf_file *file)
{
    if (file->dwfl != NULL)
        dwfl_end(file->dwfl);
    dwarf_end(file->dwarf);
    dwarf_end(file->shared_dwarf);
    inflate_free(&file->copy);
    inflate_free(&file->shared);
    free(file->problem);
    free(file->unread);
    *file = (struct elf_file){0};
}
