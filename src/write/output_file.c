/* SPDX-License-Identifier: MIT */
/*
 * output_file.c -- makes, fills and renames the file. It does not call fsync.
 * After a crash of the program the spool is left. A power failure within a
 * second costs no more than for any other file.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "output_file.h"

/* Limit of the names that are tried for the temporary file. */
enum { ATTEMPTS = 100 };

/* A file that is being written. */
struct output_file {
    const char *path;
    char *temporary;
    FILE *stream;
};

static int (*const writers[])(FILE *, struct profile *) = {
#define FORMAT(id, ending, words, needs_events, wall, write) \
    [FORMAT_##id] = write,
    FORMAT_TABLE(FORMAT)
#undef FORMAT
};

/* A name for the temporary file. It is short, because the name at PATH may
 * already be as long as names can be. */
static char *
temporary_name(const char *path, unsigned attempt)
{
    const char *slash = strrchr(path, '/');
    int directory = slash != NULL ? (int)(slash - path) + 1 : 0;
    char *name;
    if (asprintf(&name, "%.*s.sprof-%ld-%u.tmp", directory, path,
                 (long)getpid(), attempt) < 0)
        return NULL;
    return name;
}

/* Open a new file; on success TEMPORARY is its name. */
static int
open_temporary(struct output_file *output)
{
    int fd = -1;
    for (unsigned i = 0; i < ATTEMPTS && fd < 0; i++) {
        output->temporary = temporary_name(output->path, i);
        if (output->temporary == NULL)
            return -1;
        fd = open(output->temporary,
                  O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd >= 0) {
            /* The umask may have taken permissions that the owner needs. */
            (void)fchmod(fd, 0600);
            break;
        }
        free(output->temporary);
        output->temporary = NULL;
        if (errno != EEXIST)
            return -1;
    }
    return fd;
}

/* Afterwards OUTPUT has a stream and a temporary file, or neither. */
static int
begin_output(struct output_file *output, const char *path)
{
    *output = (struct output_file){.path = path};
    int error, fd = open_temporary(output);
    if (fd < 0)
        goto err0;
    output->stream = fdopen(fd, "w");
    if (output->stream == NULL)
        goto err1;
    return 0;

err1:
    error = errno;
    close(fd);
    unlink(output->temporary);
    free(output->temporary);
    errno = error;
err0:
    return -1;
}

/* Close the file. Rename it if STATUS is 0, else remove it. */
static int
finish_output(struct output_file *output, int status)
{
    int error = errno;
    if (fclose(output->stream) != 0 && status == 0) {
        error = errno;
        status = -1;
    }
    if (status == 0 && rename(output->temporary, output->path) != 0) {
        error = errno;
        status = -1;
    }
    if (status != 0)
        unlink(output->temporary);
    free(output->temporary);
    errno = error;
    return status;
}

/* Write and flush everything before the status is known. Returns 0, or -1 with
 * errno set. */
static int
write_standard_output(const struct output_content *content)
{
    errno = 0;
    if (content->write(stdout, content) != 0 || fflush(stdout) != 0)
        return -1;
    return ferror(stdout) != 0 ? -1 : 0;
}

static int
write_file(const char *path, const struct output_content *content)
{
    struct output_file output;
    if (begin_output(&output, path) != 0)
        return -1;
    errno = 0;
    return finish_output(&output, content->write(output.stream, content));
}

int
output_file_make(const char *path, const struct output_content *content,
                 char *error, size_t size)
{
    bool is_file = strcmp(path, "-") != 0;
    int status =
        is_file ? write_file(path, content) : write_standard_output(content);
    if (status != 0)
        snprintf(error, size, "%s: cannot be written: %s",
                 is_file ? path : "standard output", strerror(errno));
    return status;
}

/* A profile in a format of the table. */
struct formatted {
    struct output_content content;
    enum format format;
    struct profile *profile;
};

static int
write_formatted(FILE *stream, const struct output_content *content)
{
    const struct formatted *formatted = (const struct formatted *)content;
    return writers[formatted->format](stream, formatted->profile);
}

int
output_file_write_as(const char *path, enum format format,
                     struct profile *profile, char *error, size_t size)
{
    const struct formatted formatted = {{write_formatted}, format, profile};
    return output_file_make(path, &formatted.content, error, size);
}

int
output_file_write(const char *path, struct profile *profile, char *error,
                  size_t size)
{
    enum format format = format_of(path);
    if (format != FORMAT_UNKNOWN)
        return output_file_write_as(path, format, profile, error, size);
    snprintf(error, size, "%s: unknown ending, expected one of %s", path,
             format_endings());
    return -1;
}
