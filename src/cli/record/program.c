/* SPDX-License-Identifier: MIT */
/*
 * program.c -- see program.h. Only what the kernel itself reads is checked: the
 * mode, the first line of a script, the program headers.
 */
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/arch.h"
#include "program.h"

/* SCRIPTS: how many scripts that are run by scripts the kernel follows
 * (execve(2)). */
enum { SCRIPTS = 5 };

/* HEADERS: how many program headers are read. No linker writes as many. */
enum { HEADERS = 256 };

/* The file that is checked, and the buffer for the reason. */
struct look {
    char path[PATH_MAX];
    int fd;
    char *why;
    size_t size;
};

/* Write why this file cannot be profiled. Returns -1. */
static int
refuse_file(const struct look *look, const char *reason)
{
    snprintf(look->why, look->size, "%s %s", look->path, reason);
    return -1;
}

/* Store DIRECTORY/COMMAND in PATH. DIRECTORY has LENGTH bytes; an empty one is
 * the present directory. */
static void
join_path(char *path, const char *directory, size_t length, const char *command)
{
    snprintf(path, PATH_MAX, "%.*s%s%s", (int)length, directory,
             length > 0 ? "/" : "", command);
}

/* Find the path of COMMAND as execvp(3) does. Returns -1 if there is none. */
static int
find_in_path(const char *command, char *path)
{
    const char *all = getenv("PATH");
    if (all == NULL || strchr(command, '/') != NULL) {
        join_path(path, "", 0, command);
        return 0;
    }
    for (;;) {
        size_t length = strcspn(all, ":");
        join_path(path, all, length, command);
        if (access(path, X_OK) == 0)
            return 0;
        if (all[length] == '\0')
            return -1;
        all += length + 1;
    }
}

/* Refuse a file that runs with other privileges than those of this user. */
static int
check_privileges(const struct look *look)
{
    struct stat file;
    if (fstat(look->fd, &file) != 0)
        return 0;
    if ((file.st_mode & S_ISUID) != 0 && file.st_uid != geteuid())
        return refuse_file(look, "is set-user-ID: the dynamic linker preloads "
                                 "nothing into it; run it as its owner");
    if ((file.st_mode & S_ISGID) != 0 && (file.st_mode & S_IXGRP) != 0 &&
        file.st_gid != getegid())
        return refuse_file(look, "is set-group-ID: the dynamic linker preloads "
                                 "nothing into it; run it in its group");
    if (geteuid() != 0 &&
        fgetxattr(look->fd, "security.capability", NULL, 0) > 0)
        return refuse_file(look, "has file capabilities: the dynamic linker "
                                 "preloads nothing into it; run it as root");
    return 0;
}

/* Check the dynamic linker whose path the header INTERP names. */
static int
check_linker(const struct look *look, const Elf64_Phdr *interp)
{
    char path[PATH_MAX];
    size_t size =
        interp->p_filesz < sizeof(path) ? interp->p_filesz : sizeof(path) - 1;
    ssize_t got = pread(look->fd, path, size, (off_t)interp->p_offset);
    path[got > 0 ? got : 0] = '\0';
    if (strstr(path, "/ld-musl") == NULL)
        return 0;
    return refuse_file(look,
                       "is linked with musl, whose dynamic linker ends it for "
                       "a library of glibc; link it with glibc");
}

/* A program without PT_INTERP has no dynamic linker. */
static int
check_elf(const struct look *look, const Elf64_Ehdr *header)
{
    size_t count = header->e_phnum;
    if (header->e_ident[EI_CLASS] != ELFCLASS64 ||
        header->e_machine != ARCH_MACHINE)
        return refuse_file(
            look, "is for another kind of machine: expected an " ARCH_NAME
                  " program");
    Elf64_Phdr programs[HEADERS];
    if (header->e_phentsize != sizeof(programs[0]) || count > HEADERS)
        return 0;
    size_t size = count * sizeof(programs[0]);
    if (pread(look->fd, programs, size, (off_t)header->e_phoff) !=
        (ssize_t)size)
        return 0;
    for (size_t i = 0; i < count; i++)
        if (programs[i].p_type == PT_INTERP)
            return check_linker(look, &programs[i]);
    return refuse_file(look,
                       "is statically linked: no library can be preloaded "
                       "into it; link it dynamically");
}

/* Take the interpreter from TEXT, the LENGTH bytes behind "#!". Returns 0, or
 * -1 if none is named. */
static int
take_interpreter(struct look *look, char *text, size_t length)
{
    text[length] = '\0';
    text += strspn(text, " \t");
    text[strcspn(text, " \t\n")] = '\0';
    if (text[0] == '\0')
        return -1;
    snprintf(look->path, sizeof(look->path), "%s", text);
    return 0;
}

/* Check one file. Returns 0 if it can be profiled, or -1. Returns 1 for a
 * script; LOOK->path is then its interpreter. */
static int
check_file(struct look *look)
{
    union {
        Elf64_Ehdr elf;
        char text[256]; /* as much as the kernel reads of a script */
    } head;
    ssize_t got = pread(look->fd, &head, sizeof(head) - 1, 0);
    if (check_privileges(look) != 0)
        return -1;
    if (got > 2 && memcmp(head.text, "#!", 2) == 0)
        return take_interpreter(look, head.text + 2, (size_t)got - 2) == 0;
    if (got >= (ssize_t)sizeof(head.elf) &&
        memcmp(head.elf.e_ident, ELFMAG, SELFMAG) == 0)
        return check_elf(look, &head.elf);
    return 0;
}

int
program_check(const char *command, char *why, size_t size)
{
    struct look look = {.why = why, .size = size};
    int result = 1;
    if (find_in_path(command, look.path) != 0)
        return 0;
    for (int i = 0; i < SCRIPTS && result == 1; i++) {
        look.fd = open(look.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (look.fd < 0)
            return 0;
        result = check_file(&look);
        close(look.fd);
    }
    return result < 0 ? -1 : 0;
}
