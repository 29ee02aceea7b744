/* SPDX-License-Identifier: MIT */
/*
 * inputs.c -- opens spools and pprof files and adds them up. Each message is
 * one line with the name of the file. A bad file does not affect the others:
 * nine good spools of ten make a profile.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "model/profile.h"
#include "read/load.h"
#include "command.h"
#include "inputs.h"

/* SERVER_SECONDS: the longest wait for a server of debug files, in seconds. The
 * user can end it with Ctrl-C. */
enum { SERVER_SECONDS = 60 };

/* Read FD to its end. Returns the bytes, or NULL with errno set. A pipe cannot
 * be mapped, so it is read into a buffer that doubles. */
static char *
read_all(int fd, size_t *length)
{
    size_t size = 64 * 1024;
    char *bytes = malloc(size);
    ssize_t got = bytes == NULL ? -1 : 1;
    *length = 0;
    while (got > 0) {
        got = read(fd, bytes + *length, size - *length);
        if (got < 0 && errno == EINTR)
            got = 1;
        else if (got > 0)
            *length += (size_t)got;
        if (*length == size) {
            char *more = realloc(bytes, 2 * size);
            if (more == NULL)
                break;
            bytes = more;
            size *= 2;
        }
    }
    if (got == 0)
        return bytes;
    free(bytes);
    return NULL;
}

/* The bytes are freed here, because the profile keeps copies of what it needs.
 */
static int
load_stream(struct profile *profile, int fd, const char *name, char *error,
            size_t size)
{
    size_t length;
    char *bytes = read_all(fd, &length);
    if (bytes == NULL) {
        snprintf(error, size, "%s: %s", name, strerror(errno));
        return -1;
    }
    int status = load_memory(profile, bytes, length, name, error, size);
    free(bytes);
    return status;
}

bool
inputs_is_stream(const char *path)
{
    struct stat now;
    return strcmp(path, "-") == 0 ||
           (stat(path, &now) == 0 && S_ISFIFO(now.st_mode));
}

/* Load a pipe; a shell's <(COMMAND) is the path of one. */
static int
load_pipe(struct profile *profile, const char *path, char *error, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        snprintf(error, size, "%s: %s", path, strerror(errno));
        return -1;
    }
    int status = load_stream(profile, fd, path, error, size);
    close(fd);
    return status;
}

/* Add one input, and print a message about what is wrong with it. Returns 0, or
 * -1 if nothing of it is used. */
static int
load_input(struct profile *profile, const char *path)
{
    char error[4096 + 512] = "";
    int status;
    if (strcmp(path, "-") == 0)
        status = load_stream(profile, STDIN_FILENO, "standard input", error,
                             sizeof(error));
    else if (inputs_is_stream(path))
        status = load_pipe(profile, path, error, sizeof(error));
    else
        status = load_file(profile, path, error, sizeof(error));
    text_hide_controls(error);
    if (error[0] != '\0')
        fprintf(stderr, "sprofile: %s\n", error);
    return status;
}

struct profile *
inputs_load(char *const *paths, int count, bool keeps_events, bool full_names)
{
    const struct symbolizer_options options = {.inlines = true,
                                               .full_names = full_names,
                                               .server_seconds =
                                                   SERVER_SECONDS};
    struct profile *profile = profile_new(&options);
    int used = 0;
    if (profile == NULL) {
        fprintf(stderr, "sprofile: %s\n", strerror(errno));
        return NULL;
    }
    profile->keeps_events = keeps_events;
    for (int i = 0; i < count; i++)
        used += load_input(profile, paths[i]) == 0;
    profile->is_short = used < count;
    if (used > 0)
        return profile;
    profile_free(profile);
    return NULL;
}

int
inputs_status(const struct profile *profile, int status)
{
    return status == STATUS_DONE && profile->is_short ? STATUS_FAILED : status;
}
