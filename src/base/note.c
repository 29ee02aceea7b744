/* SPDX-License-Identifier: MIT */
/*
 * note.c -- messages without stdio; see note.h. stdio has locks that a thread
 * may hold while it is suspended. It has buffers that a program has filled and
 * not yet written. A line is put together on the stack and written by one call.
 * So the lines of two processes on one terminal do not mix.
 *
 * The hard thing is that a write may raise a signal, which is the program's. A
 * pipe without a reader raises SIGPIPE, and a file at its limit SIGXFSZ. A
 * terminal may raise SIGTTOU in a process in the background.
 */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "sys.h"
#include "text.h"
#include "note.h"

/* Set in the constructor, when the program has no thread yet, and only read
 * after that: they need no lock. */
static enum note_level allowed = NOTE_ERROR;
static struct stat stderr_was;
static bool have_stderr; /* false: 2 was closed at the start */

/* What descriptor 2 is, in *NOW. A system call, because a sanitizer's fstat
 * would report a race for the descriptor. */
static bool
is_open(struct stat *now)
{
    return sys_call(SYS_fstat, STDERR_FILENO, now) == 0;
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
 * their files in the places that became free. Device and inode show that. A
 * program that sends stderr elsewhere on purpose loses our lines, which is the
 * lesser harm. */
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
    struct winsize size;
    /* As isatty, without what other systems need. */
    return stderr_is_ours() &&
           sys_call(SYS_ioctl, STDERR_FILENO, TIOCGWINSZ, &size) == 0;
}

static uint64_t
bit_of(int signo)
{
    return UINT64_C(1) << (signo - 1);
}

/* Our write has raised SIGNO, which is blocked: take it away, unless it was
 * PENDING before. Then it is the program's. */
static void
take_away(int signo, uint64_t pending)
{
    static const struct timespec at_once;
    uint64_t set = bit_of(signo);
    if ((pending & set) == 0)
        (void)sys_call(SYS_rt_sigtimedwait, &set, 0, &at_once, sizeof(set));
}

/* Write LENGTH bytes at LINE without raising a signal. A filter of system calls
 * may be in force, so only needed calls are made: a signal that is not blocked
 * cannot be pending. */
static void
write_quietly(const char *line, size_t length)
{
    uint64_t raised = bit_of(SIGPIPE) | bit_of(SIGXFSZ) | bit_of(SIGTTOU);
    uint64_t old = 0, pending = 0;
    bool is_blocked = sys_mask(SIG_BLOCK, raised, &old) == 0;
    if (!is_blocked)
        return;
    if ((old & raised) != 0)
        (void)sys_call(SYS_rt_sigpending, &pending, sizeof(pending));
    long result = sys_call(SYS_write, STDERR_FILENO, line, length);
    if (result == -EPIPE)
        take_away(SIGPIPE, pending);
    else if (result == -EFBIG)
        take_away(SIGXFSZ, pending);
    (void)sys_mask(SIG_SETMASK, old, NULL);
}

void
note(enum note_level level, const char *part, ...)
{
    if (!note_is_on(level) || !stderr_is_ours())
        return;
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
    /* A line that is too long is cut, but always ends: the text leaves one
     * byte. */
    line[text.length] = '\n';
    write_quietly(line, text.length + 1);
}

const char *
note_errno(int error)
{
    /* strerror would translate the words, and allocates for that. */
    const char *words = strerrordesc_np(error);
    return words != NULL ? words : "unknown error";
}
