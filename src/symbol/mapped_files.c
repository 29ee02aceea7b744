/* SPDX-License-Identifier: MIT */
/*
 * mapped_files.c -- see mapped_files.h and proc(5). A line of /proc/PID/maps is
 *
 *   7f2a1000-7f2a5000 r--p 00000000 fd:01 1234    /opt/lib/x.so (deleted)
 *
 * and the same file is map_files/7f2a1000-7f2a5000. Only first mappings, at
 * offset 0, are kept: a module begins with one.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mapped_files.h"

/* A process can have 65,530 mappings, unless its machine is set up otherwise.
 */
#define FILES_MAX 65536

struct mapped_file {
    uint64_t start, end;
    char *path; /* as the map has it, with " (deleted)" */
};

struct mapped_files {
    uint32_t pid;
    size_t count;
    struct mapped_file files[FILES_MAX]; /* touched as far as they are used */
};

/* Take in one line of the map. */
static void
add_line(struct mapped_files *files, char *line)
{
    struct mapped_file *file = &files->files[files->count];
    uint64_t offset, inode;
    int path = 0;

    line[strcspn(line, "\n")] = '\0';
    if (sscanf(line,
               "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %" SCNu64 " %n",
               &file->start, &file->end, &offset, &inode, &path) < 4 ||
        offset != 0 || inode == 0 || path == 0 || line[path] != '/')
        return;
    file->path = strdup(line + path);
    if (file->path)
        files->count++;
}

struct mapped_files *
mapped_files_open(uint32_t pid)
{
    struct mapped_files *files = calloc(1, sizeof(*files));
    char *line = NULL, name[64];
    size_t size = 0;
    FILE *maps;

    if (!files)
        return (NULL);
    files->pid = pid;
    snprintf(name, sizeof(name), "/proc/%" PRIu32 "/maps", pid);
    maps = fopen(name, "re");
    if (!maps) {
        free(files);
        return (NULL);
    }
    while (files->count < FILES_MAX && getline(&line, &size, maps) > 0)
        add_line(files, line);
    free(line);
    fclose(maps);
    return (files);
}

/* Whether NAME can be opened; what links in /proc lead to may not be
 * followed by everybody who can see them. */
static int
is_readable(const char *name)
{
    int fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

    if (fd >= 0)
        close(fd);
    return (fd >= 0);
}

/* Whether FILE is the executable of process PID. */
static int
is_executable(const struct mapped_file *file, const char *link)
{
    char target[PATH_MAX + 16];
    ssize_t length = readlink(link, target, sizeof(target) - 1);

    if (length < 0)
        return (0);
    target[length] = '\0';
    return (strcmp(target, file->path) == 0);
}

char *
mapped_files_find(const struct mapped_files *files, uint64_t start,
                  const char *path)
{
    const struct mapped_file *file = files->files;
    const struct mapped_file *end = files->files + files->count;
    char name[96];

    while (file < end && file->start != start)
        file++;
    if (file == end || strcmp(file->path, path) == 0)
        return (NULL);
    snprintf(name, sizeof(name),
             "/proc/%" PRIu32 "/map_files/%" PRIx64 "-%" PRIx64, files->pid,
             file->start, file->end);
    if (is_readable(name))
        return (strdup(name));
    snprintf(name, sizeof(name), "/proc/%" PRIu32 "/exe", files->pid);
    if (is_executable(file, name) && is_readable(name))
        return (strdup(name));
    return (NULL);
}

void
mapped_files_close(struct mapped_files *files)
{
    if (!files)
        return;
    for (size_t i = 0; i < files->count; i++)
        free(files->files[i].path);
    free(files);
}
