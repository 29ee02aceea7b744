/* SPDX-License-Identifier: MIT */
/* preload.c -- see preload.h. The file is read only where LD_PRELOAD names this
 * library. */
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/arch.h"
#include "base/path.h"
#include "base/program.h"
#include "base/sys.h"
#include "base/text.h"
#include "preload.h"

#define VARIABLE "LD_PRELOAD="

/* What separates the paths in LD_PRELOAD (ld.so(8)). */
#define SEPARATORS " :"

/* VARIABLES: limit of the variables of an environment that is changed. It
 * spares the stack: their pointers take 8 KiB. */
enum { VARIABLES = 1024 };

/* Limit of the bytes of a changed LD_PRELOAD. It spares the stack. */
#define BYTES_MOST 4096u

/* Whether the PATH of LENGTH bytes is this library's, and is not hidden. */
static bool
is_ours(const char *path, size_t length)
{
    static const char name[] = "libsprof.so";
    size_t size = sizeof(name) - 1;
    return length >= size && path[0] != '$' &&
           memcmp(path + length - size, name, size) == 0 &&
           (length == size || path[length - size - 1] == '/');
}

/* Copy the value LIST of LD_PRELOAD to TEXT, our paths in the other FORM. musl
 * ignores an absolute path that is hidden; another one is left out, as every
 * path is where FORM is NULL. Returns the number of our paths. */
static size_t
copy_list(struct text *text, const char *list, const char *form)
{
    size_t ours = 0;
    while (*list != '\0') {
        size_t blank = strspn(list, SEPARATORS);
        size_t length = strcspn(list + blank, SEPARATORS);
        bool is_one = is_ours(list + blank, length);
        text_add_bytes(text, list, blank);
        list += blank;
        if (is_one && form != NULL && list[0] == '/')
            text_add(text, form);
        if (!is_one || (form != NULL && list[0] == '/'))
            text_add_bytes(text, list, length);
        list += length;
        ours += is_one;
    }
    return ours;
}

/* Find the LD_PRELOAD that has our library, and count all variables. Returns
 * the bytes of its copy, or 0 if no LD_PRELOAD can be changed. */
static size_t
find_variable(struct preload *preload, char *const environment[])
{
    char unused[1];
    size_t bytes = 0;
    if (environment == NULL || !sys_can_load((uint64_t)environment))
        return 0;
    for (size_t i = 0; environment[i] != NULL; i++, preload->count++) {
        struct text text;
        if (bytes > 0 ||
            strncmp(environment[i], VARIABLE, strlen(VARIABLE)) != 0)
            continue;
        text_begin(&text, unused, sizeof(unused));
        size_t ours = copy_list(&text, environment[i] + strlen(VARIABLE), NULL);
        if (ours > 0)
            bytes = strlen(environment[i]) + ours * sizeof(PROGRAM_HIDDEN) + 1;
        preload->at = i;
    }
    return preload->count <= VARIABLES && bytes <= BYTES_MOST ? bytes : 0;
}

/* The kind of the program at PATH, or of the one that runs it. */
static enum program
kind_of(int directory, const char *path)
{
    char interpreter[PROGRAM_PATH];
    enum program kind = PROGRAM_SCRIPT;
    for (int i = 0; i < PROGRAM_SCRIPTS && kind == PROGRAM_SCRIPT; i++) {
        long fd = arch_syscall(SYS_openat, directory, (long)path,
                               O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0, 0, 0);
        if (fd < 0)
            return PROGRAM_OTHER;
        kind = program_look((int)fd, path, interpreter);
        sys_close((int)fd);
        path = interpreter;
    }
    return kind;
}

void
preload_look(struct preload *preload, int directory, const char *path,
             char *const environment[])
{
    *preload = (struct preload){.words = 0};
    size_t bytes = find_variable(preload, environment);
    enum program kind = bytes > 0 ? kind_of(directory, path) : PROGRAM_OTHER;
    if (kind != PROGRAM_MUSL && kind != PROGRAM_LINKER)
        return;
    preload->form = kind == PROGRAM_MUSL ? PROGRAM_HIDDEN : NULL;
    preload->words = preload->count + 1 + bytes / sizeof(char *) + 1;
}

char *const *
preload_change(const struct preload *preload, char *const environment[],
               char *memory[])
{
    struct text text;
    size_t used = preload->count + 1;
    if (preload->words == 0)
        return environment;
    memcpy(memory, environment, used * sizeof(*memory));
    memory[preload->at] = (char *)(memory + used);
    text_begin(&text, memory[preload->at],
               (preload->words - used) * sizeof(*memory));
    text_add(&text, VARIABLE);
    (void)copy_list(&text, environment[preload->at] + strlen(VARIABLE),
                    preload->form);
    return memory;
}
