/* SPDX-License-Identifier: MIT */
/*
 * mapped_files.c -- see mapped_files.h and proc(5). A line of /proc/PID/maps is
 *
 *   7f2a1000-7f2a5000 r--p 00000000 fd:01 1234    /opt/lib/x.so (deleted)
 *
 * and the same file is map_files/7f2a1000-7f2a5000. Only first mappings, at
 * offset 0, are kept, because a module begins with one.
 */
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/proc.h"
#include "elf_view.h"
#include "mapped_files.h"

/* Limit of the files that are kept. A process can have 65,530 mappings, unless
 * its machine is set up otherwise. */
#define FILES_MAX 65536

struct mapped_file {
    uint64_t start, end, inode;
    char *path; /* as in the map, with " (deleted)" */
};

struct mapped_files {
    uint32_t pid;
    int has_other_root; /* its paths may lead elsewhere than ours */
    size_t count;
    struct mapped_file files[FILES_MAX]; /* unused places touch no memory */
};

/* Add the file of one line of the map, if it has one. */
static void
add_line(struct mapped_files *files, char *line)
{
    struct mapped_file *file = &files->files[files->count];
    int path = 0;
    line[strcspn(line, "\n")] = '\0';
    uint64_t offset;
    if (sscanf(line,
               "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %" SCNu64 " %n",
               &file->start, &file->end, &offset, &file->inode, &path) < 4 ||
        offset != 0 || file->inode == 0 || path == 0 || line[path] != '/')
        return;
    file->path = strdup(line + path);
    if (file->path != NULL)
        files->count++;
}

/* Whether process PID has another root, or other mounts, than this process. The
 * files at its paths are then looked for below /proc/PID/root. */
static int
has_other_root(uint32_t pid)
{
    char name[64];
    snprintf(name, sizeof(name), "/proc/%" PRIu32 "/root/", pid);
    struct stat its_root, our_root;
    if (stat(name, &its_root) != 0 || stat("/", &our_root) != 0)
        return 0;
    if (its_root.st_dev != our_root.st_dev ||
        its_root.st_ino != our_root.st_ino)
        return 1;
    snprintf(name, sizeof(name), "/proc/%" PRIu32 "/ns/mnt", pid);
    char its[64];
    ssize_t its_length = readlink(name, its, sizeof(its));
    char ours[64];
    ssize_t our_length = readlink("/proc/self/ns/mnt", ours, sizeof(ours));
    return its_length > 0 && its_length < (ssize_t)sizeof(its) &&
           (its_length != our_length ||
            memcmp(its, ours, (size_t)its_length) != 0);
}

/* Whether process PID existed at MONOTONIC, in ns. Field 22 of proc_pid_stat(5)
 * is its start in ticks, on a clock that also counts while the machine
 * sleeps. */
static int
was_there(uint32_t pid, uint64_t monotonic)
{
    char stat[1024];
    struct timespec up;
    if (proc_read((pid_t)pid, PROC_PROCESS, "/stat", stat, sizeof(stat)) <= 0)
        return 0;
    clock_gettime(CLOCK_BOOTTIME, &up);
    uint64_t since_boot =
        (uint64_t)up.tv_sec * NS_PER_SECOND + (uint64_t)up.tv_nsec;
    uint64_t tick = NS_PER_SECOND / (uint64_t)sysconf(_SC_CLK_TCK);
    return proc_number(proc_stat_field(stat, 22)) * tick <=
           monotonic + (since_boot - clock_now());
}

struct mapped_files *
mapped_files_open(uint32_t pid, uint64_t monotonic)
{
    struct mapped_files *files =
        was_there(pid, monotonic) != 0 ? calloc(1, sizeof(*files)) : NULL;
    char *line = NULL;
    size_t size = 0;
    if (files == NULL)
        return NULL;
    files->pid = pid;
    files->has_other_root = has_other_root(pid);
    char name[64];
    snprintf(name, sizeof(name), "/proc/%" PRIu32 "/maps", pid);
    FILE *maps = fopen(name, "re");
    if (maps == NULL) {
        free(files);
        return NULL;
    }
    while (files->count < FILES_MAX && getline(&line, &size, maps) > 0)
        add_line(files, line);
    free(line);
    fclose(maps);
    return files;
}

/* Whether NAME can be opened, and has the build-id WANTED. A process may see a
 * link in /proc and yet not be allowed to follow it. A file whose build-id is
 * not found here is left to the symbolizer. */
static bool
is_wanted(const char *name, struct bytes wanted)
{
    int fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return false;
    close(fd);
    struct elf_view view;
    if (wanted.at == wanted.end || elf_view_open(&view, name) != 0)
        return true;
    bool is_other = elf_view_build_id(&view).at != NULL &&
                    !elf_view_has_build_id(&view, wanted.at,
                                           (size_t)(wanted.end - wanted.at));
    elf_view_close(&view);
    return !is_other;
}

/* Whether LINK, of /proc, leads to FILE. */
static int
leads_to(const char *link, const struct mapped_file *file)
{
    char target[PATH_MAX + 16];
    struct stat status;
    ssize_t length = readlink(link, target, sizeof(target) - 1);
    if (length < 0)
        return 0;
    target[length] = '\0';
    return strcmp(target, file->path) == 0 && stat(link, &status) == 0 &&
           status.st_ino == file->inode;
}

/* A descriptor of the process that is open for FILE with the build-id WANTED,
 * as a path. NULL if it has none. */
static char *
open_descriptor(const struct mapped_files *files,
                const struct mapped_file *file, struct bytes wanted)
{
    char name[64 + NAME_MAX];
    snprintf(name, sizeof(name), "/proc/%" PRIu32 "/fd", files->pid);
    DIR *directory = opendir(name);
    const struct dirent *entry;
    char *found = NULL;
    while (directory != NULL && found == NULL &&
           (entry = readdir(directory)) != NULL) {
        snprintf(name, sizeof(name), "/proc/%" PRIu32 "/fd/%s", files->pid,
                 entry->d_name);
        if (leads_to(name, file) != 0 && is_wanted(name, wanted))
            found = strdup(name);
    }
    if (directory != NULL)
        closedir(directory);
    return found;
}

/* The path of the file at PATH below the process's root. NULL if it cannot be
 * read there, or lacks the build-id WANTED. */
static char *
below_root(const struct mapped_files *files, const char *path,
           struct bytes wanted)
{
    char name[PATH_MAX + 64];
    if ((size_t)snprintf(name, sizeof(name), "/proc/%" PRIu32 "/root%s",
                         files->pid, path) >= sizeof(name))
        return NULL;
    return is_wanted(name, wanted) ? strdup(name) : NULL;
}

/* Whether the map says that FILE was deleted from PATH. */
static int
was_at(const struct mapped_file *file, const char *path)
{
    size_t length = strlen(path);
    return strncmp(file->path, path, length) == 0 &&
           strcmp(file->path + length, " (deleted)") == 0;
}

char *
mapped_files_find(const struct mapped_files *files, uint64_t start,
                  const char *path, struct bytes build_id, bool *is_elsewhere)
{
    bool has_build_id = build_id.at != build_id.end;
    const struct mapped_file *file = files->files;
    const struct mapped_file *end = files->files + files->count;
    while (file < end && file->start != start)
        file++;
    bool is_there = file < end && strcmp(file->path, path) == 0;
    *is_elsewhere =
        file < end && (is_there ? files->has_other_root != 0
                                : has_build_id || was_at(file, path) != 0);
    if (!*is_elsewhere)
        return NULL;
    char *found = is_there ? below_root(files, path, build_id) : NULL;
    if (found != NULL)
        return found;
    char name[96];
    snprintf(name, sizeof(name),
             "/proc/%" PRIu32 "/map_files/%" PRIx64 "-%" PRIx64, files->pid,
             file->start, file->end);
    if (is_wanted(name, build_id))
        return strdup(name);
    snprintf(name, sizeof(name), "/proc/%" PRIu32 "/exe", files->pid);
    if (leads_to(name, file) != 0 && is_wanted(name, build_id))
        return strdup(name);
    return open_descriptor(files, file, build_id);
}

void
mapped_files_close(struct mapped_files *files)
{
    if (files == NULL)
        return;
    for (size_t i = 0; i < files->count; i++)
        free(files->files[i].path);
    free(files);
}
