/* SPDX-License-Identifier: MIT */
/*
 * note.c -- messages without stdio; see note.h. stdio has locks that a thread
 * may hold while it is suspended, and buffers that a program has filled and not
 * yet written. A line is put together on the stack and leaves in one write, so
 * that the lines of two processes on one terminal do not mix.
 */
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "arch.h"
#include "note.h"
#include "text.h"

/* Set in the constructor, when the program has no thread yet, and only read
 * after that: they need no lock. */
static enum note_level allowed = NOTE_ERROR;
static struct stat stderr_was;
static bool have_stderr; /* false for a program started with 2 closed */

/* What descriptor 2 is, in *NOW. By system call: to a sanitizer's fstat it
 * looks like a race for the descriptor. */
static bool
is_open(struct stat *now)
{
    return arch_syscall(SYS_fstat, STDERR_FILENO, (long)now, 0, 0, 0, 0) == 0;
}

void
note_begin(void)
{
    have_stderr = is_open(&stderr_was);
}

void
note_set_level(enum note_level level)
{
    allowed = level;
}

bool
note_is_on(enum note_level level)
{
    return level <= allowed;
}

/* Descriptor 2 may be a database by now: daemons close everything and open
 * their files in the places that became free. Device and inode tell; a program
 * that sends stderr elsewhere on purpose loses our lines, which is the lesser
 * harm. */
static bool
stderr_is_ours(void)
{
    struct stat now;
    return have_stderr && is_open(&now) && now.st_dev == stderr_was.st_dev &&
           now.st_ino == stderr_was.st_ino;
}

bool
note_is_terminal(void)
{
    int saved = errno;
    struct winsize size;
    /* What isatty would ask, without its knowledge of other systems. */
    bool is = stderr_is_ours() && ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0;
    errno = saved;
    return is;
}

void
note(enum note_level level, const char *part, ...)
{
    int saved = errno;
    if (!note_is_on(level) || !stderr_is_ours())
        goto out;
    char line[1024];
    struct text text;
    text_begin(&text, line, sizeof(line) - 1);
    text_add(&text, "sprof: ");
    va_list parts;
    va_start(parts, part);
    for (; part != NULL; part = va_arg(parts, const char *))
        text_add(&text, part);
    va_end(parts);
    /* Names of files and values of variables may hold anything. */
    text_hide_controls(line);
    /* Too long a line is cut, but always ends: the text has left one byte. */
    line[text.length] = '\n';
    (void)arch_syscall(SYS_write, STDERR_FILENO, (long)line,
                       (long)text.length + 1, 0, 0, 0);
out:
    errno = saved;
}

const char *
note_errno(int error)
{
    /* strerror would translate the words, and allocates for that. */
    const char *words = strerrordesc_np(error);
    return words != NULL ? words : "unknown error";
}
