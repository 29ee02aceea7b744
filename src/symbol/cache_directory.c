/* SPDX-License-Identifier: MIT */
/*
 * cache_directory.c -- see cache_directory.h. All files are opened relative to
 * the directory, and no symbolic link is followed there.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/array.h"
#include "cache_directory.h"

/* Limit of the size of all files together, in bytes. */
#define ALL_MOST (512ll << 20)

/* Descriptor of the directory; NOT_OPENED, or NONE if there is none. */
enum { NOT_OPENED = -2, NONE = -1 };
static int directory = NOT_OPENED;

/* Put the path of the directory into PATH. Returns false if there is none. */
static bool
choose_path(char path[PATH_MAX])
{
    const char *set = getenv("SPROF_CACHE"), *base = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    if (set != NULL && strcmp(set, "off") == 0)
        return false;
    if (set != NULL && set[0] != '\0')
        return snprintf(path, PATH_MAX, "%s", set) < PATH_MAX;
    if (base != NULL && base[0] == '/')
        return snprintf(path, PATH_MAX, "%s/sprof", base) < PATH_MAX;
    if (home == NULL || home[0] != '/' ||
        snprintf(path, PATH_MAX, "%s/.cache/sprof", home) >= PATH_MAX)
        return false;
    /* ~/.cache is made, but no home. */
    path[strlen(path) - strlen("/sprof")] = '\0';
    (void)mkdir(path, 0700);
    strcat(path, "/sprof");
    return true;
}

/* Whether FD is a directory of the effective user, to which no other writes. */
static bool
is_safe(int fd)
{
    struct stat status;
    return fstat(fd, &status) == 0 && S_ISDIR(status.st_mode) &&
           status.st_uid == geteuid() && (status.st_mode & 022) == 0;
}

static int
open_directory(void)
{
    char path[PATH_MAX];
    if (!choose_path(path))
        return NONE;
    (void)mkdir(path, 0700);
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0 && is_safe(fd))
        return fd;
    if (fd >= 0)
        close(fd);
    return NONE;
}

bool
cache_directory_is_there(void)
{
    if (directory == NOT_OPENED)
        directory = open_directory();
    return directory != NONE;
}

/* Read SIZE bytes of FD. */
static uint8_t *
read_bytes(int fd, size_t size)
{
    uint8_t *bytes = malloc(size + 1);
    size_t done = 0;
    while (bytes != NULL && done < size) {
        ssize_t part = read(fd, bytes + done, size - done);
        if (part <= 0) {
            free(bytes);
            return NULL;
        }
        done += (size_t)part;
    }
    return bytes;
}

uint8_t *
cache_directory_read(const char *name, size_t most, size_t *size)
{
    struct stat status;
    uint8_t *bytes = NULL;
    int fd =
        openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return NULL;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
        status.st_uid == geteuid() && (size_t)status.st_size <= most) {
        *size = (size_t)status.st_size;
        bytes = read_bytes(fd, *size);
        (void)futimens(fd, NULL);
    }
    close(fd);
    return bytes;
}

/* A file of the directory, and when it was used last. */
struct kept {
    struct timespec used;
    off_t size;
    char name[NAME_MAX + 1];
};

static int
compare_kept(const void *left, const void *right)
{
    const struct timespec *a = &((const struct kept *)left)->used;
    const struct timespec *b = &((const struct kept *)right)->used;
    if (a->tv_sec != b->tv_sec)
        return a->tv_sec < b->tv_sec ? -1 : 1;
    return (a->tv_nsec > b->tv_nsec) - (a->tv_nsec < b->tv_nsec);
}

/* List the files of the directory. Returns their number, and *ALL bytes. */
static size_t
list_files(struct kept **files, long long *all)
{
    size_t count = 0;
    struct stat status;
    struct dirent *entry;
    int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *listing = fd >= 0 ? fdopendir(fd) : NULL;
    *files = NULL;
    *all = 0;
    while (listing != NULL && (entry = readdir(listing)) != NULL) {
        struct kept *room = array_room(*files, count, sizeof(**files));
        if (room == NULL)
            break;
        *files = room;
        if (fstatat(directory, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) !=
                0 ||
            !S_ISREG(status.st_mode))
            continue;
        room[count].used = status.st_mtim;
        room[count].size = status.st_size;
        strcpy(room[count].name, entry->d_name);
        *all += status.st_size;
        count++;
    }
    if (listing != NULL)
        closedir(listing);
    return count;
}

/* Remove files until the rest takes less than three quarters of the limit. */
static void
remove_old(void)
{
    struct kept *files;
    long long all;
    size_t count = list_files(&files, &all);
    if (all > ALL_MOST) {
        qsort(files, count, sizeof(*files), compare_kept);
        for (size_t i = 0; i < count && all > ALL_MOST / 4 * 3; i++) {
            (void)unlinkat(directory, files[i].name, 0);
            all -= files[i].size;
        }
    }
    free(files);
}

/* Returns whether all PARTS are written to FD. */
static bool
write_parts(int fd, const struct cache_directory_part *parts, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        const char *bytes = parts[i].bytes;
        size_t left = parts[i].size;
        while (left > 0) {
            ssize_t part = write(fd, bytes, left);
            if (part <= 0)
                return false;
            bytes += part;
            left -= (size_t)part;
        }
    }
    return true;
}

/* Whether a file of all PARTS is within RLIMIT_FSIZE. A breach would end this
 * process by SIGXFSZ (setrlimit(2)). */
static bool
is_within_limit(const struct cache_directory_part *parts, unsigned count)
{
    struct rlimit limit;
    size_t size = 0;
    for (unsigned i = 0; i < count; i++)
        size += parts[i].size;
    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && size <= limit.rlim_cur;
}

void
cache_directory_write(const char *name,
                      const struct cache_directory_part *parts, unsigned count)
{
    char beside[NAME_MAX + 1];
    if (!is_within_limit(parts, count))
        return;
    snprintf(beside, sizeof(beside), "%s.%ld", name, (long)getpid());
    (void)unlinkat(directory, beside, 0);
    int fd = openat(directory, beside,
                    O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return;
    bool is_whole = write_parts(fd, parts, count);
    is_whole &= close(fd) == 0;
    if (!is_whole || renameat(directory, beside, directory, name) != 0)
        (void)unlinkat(directory, beside, 0);
    remove_old();
}
