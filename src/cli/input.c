/* SPDX-License-Identifier: MIT */
/*
 * input.c -- opens spools and pprof files and adds them up. Each complaint is
 * one line with the name of the file, whatever becomes of the others: of ten
 * spools, nine good ones make a profile.
 */
#include "input.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "profile/load.h"
#include "profile/profile.h"

#include "command.h"

/* Who waits here can also press Ctrl-C. */
enum { SERVER_SECONDS = 60 };

/* Everything that can be read from standard input; NULL with errno set. A pipe
 * cannot be mapped and must be read to its end: the buffer doubles. */
static char *
read_all(size_t *length)
{
    size_t size = 64 * 1024;
    char *bytes = malloc(size);
    ssize_t got = bytes == NULL ? -1 : 1;

    *length = 0;
    while (got > 0) {
        got = read(STDIN_FILENO, bytes + *length, size - *length);
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

/* The bytes are not needed once they are in the profile. */
static int
load_standard_input(struct profile *profile, char *error, size_t size)
{
    static const char name[] = "standard input";
    size_t length;
    char *bytes = read_all(&length);
    int status;

    if (bytes == NULL) {
        snprintf(error, size, "%s: %s", name, strerror(errno));
        return -1;
    }
    status = load_memory(profile, bytes, length, name, error, size);
    free(bytes);
    return status;
}

/* Add one input and complain. Returns 0, or -1 if nothing of it is used. */
static int
load(struct profile *profile, const char *path)
{
    char error[4096 + 512] = "";
    int status;

    if (strcmp(path, "-") == 0)
        status = load_standard_input(profile, error, sizeof error);
    else
        status = load_file(profile, path, error, sizeof error);
    text_hide_controls(error);
    if (error[0] != '\0')
        fprintf(stderr, "sprofile: %s\n", error);
    return status;
}

struct profile *
input_load(char *const *paths, int count, bool keeps_events, bool full_names)
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
        used += load(profile, paths[i]) == 0;
    profile->is_short = used < count;
    if (used > 0)
        return profile;
    profile_free(profile);
    return NULL;
}

int
input_status(const struct profile *profile, int status)
{
    return status == STATUS_DONE && profile->is_short ? STATUS_FAILED : status;
}
