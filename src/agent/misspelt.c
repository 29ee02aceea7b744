/* SPDX-License-Identifier: MIT */
/*
 * misspelt.c -- see misspelt.h. Every child of a `make` has the same wrong
 * variable, and one line is enough. Nothing can be left in the environment to
 * say that it was told: it is the program's. So the kernel is asked: the
 * parent has told of it if it started with the same variable (proc(5),
 * /proc/PID/environ) and with this library (/proc/PID/maps). Where that may
 * not be read, it counts as not told. Nothing is asked if nothing is wrong.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "base/note.h"
#include "base/options.h"
#include "base/proc.h"
#include "base/sys.h"
#include "base/text.h"
#include "misspelt.h"

enum {
    LINES_MOST = 8, /* that one process writes */
    NAME_MOST = 128,
    READ_MOST = 4096 /* bytes at a time */
};

#define LIBRARY "/libsprof.so"

/* Whether SOUGHT of LENGTH bytes is in TEXT of SIZE. */
static bool
is_in(const char *text, size_t size, const char *sought, size_t length)
{
    for (size_t i = 0; i + length <= size; i++)
        if (memcmp(text + i, sought, length) == 0)
            return true;
    return false;
}

/* Whether the parent's /proc/PID/NAME has SOUGHT of LENGTH bytes, which may
 * begin with the NUL that ends a string; one is in front of the first. */
static bool
has_parent(const char *name, const char *sought, size_t length)
{
    char path[PROC_PATH_SIZE], text[NAME_MOST + READ_MOST] = {0};
    size_t kept = 1;
    bool found = false;
    long got = 1;
    long fd = sys_open(proc_path(path, getppid(), PROC_PROCESS, name),
                       O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    while (!found && got > 0) {
        got = sys_read((int)fd, text + kept, READ_MOST);
        size_t size = kept + (got > 0 ? (size_t)got : 0);
        found = is_in(text, size, sought, length);
        /* What is sought may lie across two reads. */
        kept = size < length ? size : length;
        memmove(text, text + size - kept, kept);
    }
    sys_close((int)fd);
    return found;
}

/* Whether the parent has told of what begins with the LENGTH bytes at VARIABLE:
 * its name, or its value with the NUL behind it. */
static bool
is_told(const char *variable, size_t length)
{
    char sought[NAME_MOST] = {0};
    if (length > sizeof(sought) - 1)
        length = sizeof(sought) - 1;
    memcpy(sought + 1, variable, length);
    return has_parent("/environ", sought, length + 1) &&
           has_parent("/maps", LIBRARY, sizeof(LIBRARY) - 1);
}

void
misspelt_refuse(const char *error, char *const environment[])
{
    size_t length = strcspn(error, "=") + 1;
    for (; *environment != NULL; environment++)
        if (strncmp(*environment, error, length) == 0 &&
            is_told(*environment, strlen(*environment) + 1))
            return;
    note(NOTE_ERROR, error, "; not profiling", NULL);
}

void
misspelt_tell(char *const environment[])
{
    char name[NAME_MOST];
    const char *variable;
    for (unsigned lines = 0; lines < LINES_MOST; lines++) {
        struct text text;
        variable = options_unknown(&environment);
        if (variable == NULL)
            return;
        if (is_told(variable, strcspn(variable, "=") + 1))
            continue;
        text_begin(&text, name, sizeof(name));
        text_add_bytes(&text, variable, strcspn(variable, "="));
        note(NOTE_ERROR, name, " is not a setting; did you mean ",
             options_nearest(variable), "?", NULL);
    }
}
