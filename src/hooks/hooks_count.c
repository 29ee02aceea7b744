/* SPDX-License-Identifier: MIT */
/*
 * hooks_count.c -- the hooks on fopen(3), for programs that count their threads
 * in /proc/self/stat. CPython 3.12 and later does so after each fork, and warns
 * if there are several. It opens the file by fopen. The program gets the file
 * without the sampler's thread in the count. The stream has no descriptor
 * (fopencookie(3)). All other files, and this one while no sampler runs, are
 * opened as without the hook.
 */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/digits.h"
#include "base/phase.h"
#include "base/proc.h"
#include "base/sys.h"
#include "base/text.h"
#include "libc/real.h"
#include "sampling/sampler_thread.h"
#include "hook.h"

static const char stat_path[] = "/proc/self/stat";

/* num_threads in that file (proc_pid_stat(5)). */
#define FIELD 20

/* Bytes for the file. It has at most 52 numbers of 20 digits, and a name. */
#define TEXT_SIZE 1536

/* The content of a stream, in memory of its own. */
struct content {
    struct text text;
    size_t at;
    char bytes[TEXT_SIZE], from_kernel[TEXT_SIZE];
};

static ssize_t
read_content(void *cookie, char *to, size_t size)
{
    struct content *content = cookie;
    size_t left = content->text.length - content->at;
    if (size > left)
        size = left;
    memcpy(to, content->bytes + content->at, size);
    content->at += size;
    return (ssize_t)size;
}

static int
seek_content(void *cookie, off64_t *offset, int whence)
{
    struct content *content = cookie;
    off64_t size = (off64_t)content->text.length;
    off64_t from = whence == SEEK_SET   ? 0
                   : whence == SEEK_CUR ? (off64_t)content->at
                                        : size;
    if (*offset < -from || *offset > size - from) {
        errno = EINVAL;
        return -1;
    }
    *offset += from;
    content->at = (size_t)*offset;
    return 0;
}

static int
close_content(void *cookie)
{
    sys_release(cookie, sizeof(struct content));
    return 0;
}

/* Fill CONTENT with the file, with one thread less. The caller has seen the
 * sampler's thread. If it still exists, it was in the file. Returns false if it
 * no longer exists. */
static bool
fill_content(struct content *content)
{
    char *file = content->from_kernel;
    if (sys_read_file(stat_path, file, TEXT_SIZE) <= 0 ||
        !sampler_thread_is_there())
        return false;
    const char *field = proc_stat_field(file, FIELD), *end = field;
    uint64_t count = digits_take(&end);
    if (count < 2)
        return false;
    text_begin(&content->text, content->bytes, TEXT_SIZE);
    text_add_bytes(&content->text, file, (size_t)(field - file));
    text_add_number(&content->text, count - 1);
    text_add(&content->text, end);
    return true;
}

/* Returns the file without the sampler's thread, or NULL. */
static FILE *
open_corrected(void)
{
    static const cookie_io_functions_t functions = {.read = read_content,
                                                    .seek = seek_content,
                                                    .close = close_content};
    struct content *content = sys_reserve(sizeof(*content));
    FILE *file = content != NULL && fill_content(content)
                     ? REAL(fopencookie)(content, "r", functions)
                     : NULL;
    if (file == NULL)
        sys_release(content, sizeof(*content));
    return file;
}

/* Returns the stream for a program that opens PATH with MODE, or NULL to open
 * the file itself. */
static FILE *
instead_of(const char *path, const char *mode)
{
    if (path == NULL || strncmp(path, stat_path, sizeof(stat_path)) != 0 ||
        mode == NULL || *mode != 'r' || strchr(mode, '+') != NULL ||
        !phase_is_running() || !sampler_thread_is_there())
        return NULL;
    int error = errno;
    FILE *file = open_corrected();
    errno = error;
    return file;
}

#define OPENS(name)                                          \
    HOOK FILE *name(const char *path, const char *mode)      \
    {                                                        \
        FILE *file = instead_of(path, mode);                 \
        return file != NULL ? file : REAL(name)(path, mode); \
    }

OPENS(fopen)
OPENS(fopen64)
