/* SPDX-License-Identifier: MIT */
/* program.c -- see program.h. Program headers are read one by one: few come
 * before PT_INTERP, and the stack may be small. */
#include <elf.h>
#include <stdbool.h>
#include <string.h>

#include "arch.h"
#include "sys.h"
#include "program.h"
#include "poison.h"

/* HEADERS: limit of the program headers that are read. No linker writes as
 * many. */
enum { HEADERS = 256 };

/* The kind of a program whose dynamic linker is at PATH. One with an unknown
 * name is taken for glibc's. */
static enum program
kind_of_linker(const char *path)
{
    if (strstr(path, "/ld-musl") != NULL)
        return PROGRAM_MUSL;
    bool is_other = strstr(path, "uClibc") != NULL ||
                    strncmp(path, "/system/bin/linker", 18) == 0;
    return is_other ? PROGRAM_LINKER : PROGRAM_OTHER;
}

/* A program without PT_INTERP has no dynamic linker, or is one. */
static enum program
look_at_elf(int fd, const char *path, const Elf64_Ehdr *header)
{
    Elf64_Phdr program;
    if (header->e_ident[EI_CLASS] != ELFCLASS64 ||
        header->e_machine != ARCH_MACHINE)
        return PROGRAM_FOREIGN;
    if (header->e_phentsize != sizeof(program) || header->e_phnum > HEADERS)
        return PROGRAM_OTHER;
    for (unsigned i = 0; i < header->e_phnum; i++) {
        char linker[PROGRAM_PATH] = "";
        if (sys_read_at(fd, &program, sizeof(program),
                        header->e_phoff + i * sizeof(program)) !=
            (long)sizeof(program))
            return PROGRAM_OTHER;
        if (program.p_type != PT_INTERP)
            continue;
        (void)sys_read_at(fd, linker, sizeof(linker) - 1, program.p_offset);
        return kind_of_linker(linker);
    }
    enum program kind = kind_of_linker(path);
    return kind == PROGRAM_OTHER ? PROGRAM_STATIC : kind;
}

/* Take the interpreter from TEXT, which is what stands after "#!". */
static enum program
take_interpreter(char *text, char *interpreter)
{
    text += strspn(text, " \t");
    size_t length = strcspn(text, " \t\n");
    memcpy(interpreter, text, length);
    interpreter[length] = '\0';
    return length > 0 ? PROGRAM_SCRIPT : PROGRAM_OTHER;
}

enum program
program_look(int fd, const char *path, char interpreter[PROGRAM_PATH])
{
    union {
        Elf64_Ehdr elf;
        char text[PROGRAM_PATH];
    } head = {.text = ""};
    long got = sys_read_at(fd, &head, sizeof(head) - 1, 0);
    if (got > 2 && memcmp(head.text, "#!", 2) == 0)
        return take_interpreter(head.text + 2, interpreter);
    if (got >= (long)sizeof(head.elf) &&
        memcmp(head.elf.e_ident, ELFMAG, SELFMAG) == 0)
        return look_at_elf(fd, path, &head.elf);
    return PROGRAM_OTHER;
}
