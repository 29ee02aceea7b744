/* SPDX-License-Identifier: MIT */
/* note.c -- messages without stdio; see note.h. */
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "arch.h"
#include "note.h"
#include "text.h"

static enum note_level allowed = NOTE_ERROR;
static struct stat stderr_was;
static bool have_stderr;

void
note_begin(void)
{
    have_stderr = fstat(STDERR_FILENO, &stderr_was) == 0;
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

static bool
stderr_is_ours(void)
{
    struct stat now;
    return have_stderr && fstat(STDERR_FILENO, &now) == 0 &&
           now.st_dev == stderr_was.st_dev && now.st_ino == stderr_was.st_ino;
}

bool
note_is_terminal(void)
{
    int saved = errno;
    struct winsize size;
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
    line[text.length] = '\n';
    (void)arch_syscall(SYS_write, STDERR_FILENO, (long)line,
                       (long)text.length + 1, 0, 0, 0);
out:
    errno = saved;
}

const char *
note_errno(int error)
{
    const char *words = strerrordesc_np(error);
    return words != NULL ? words : "unknown error";
}
