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
#include <sys/stat.h>
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
    int has_other_root; /* its paths are not ours */
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

/* Whether process PID has another root, or other mounts, than we: then the
 * files at its paths are to be looked for below /proc/PID/root. */
static int
has_other_root(uint32_t pid)
{
    char name[64], its[64], ours[64];
    struct stat its_root, our_root;
    ssize_t its_length, our_length;

    snprintf(name, sizeof(name), "/proc/%" PRIu32 "/root/", pid);
    if (stat(name, &its_root) != 0 || stat("/", &our_root) != 0)
        return (0);
    if (its_root.st_dev != our_root.st_dev ||
        its_root.st_ino != our_root.st_ino)
        return (1);
    snprintf(name, sizeof(name), "/proc/%" PRIu32 "/ns/mnt", pid);
    its_length = readlink(name, its, sizeof(its));
    our_length = readlink("/proc/self/ns/mnt", ours, sizeof(ours));
    return (its_length > 0 && its_length < (ssize_t)sizeof(its) &&
            (its_length != our_length ||
             memcmp(its, ours, (size_t)its_length) != 0));
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
    files->has_other_root = has_other_root(pid);
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

/* The file at PATH below the root of the process, if we can read it there. */
static char *
below_root(const struct mapped_files *files, const char *path)
{
    char name[PATH_MAX + 64];

    if ((size_t)snprintf(name, sizeof(name), "/proc/%" PRIu32 "/root%s",
                         files->pid, path) >= sizeof(name))
        return (NULL);
    return (is_readable(name) ? strdup(name) : NULL);
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
    if (file == end)
        return (NULL);
    if (strcmp(file->path, path) == 0)
        return (files->has_other_root ? below_root(files, path) : NULL);
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
