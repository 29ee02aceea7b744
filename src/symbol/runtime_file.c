/* SPDX-License-Identifier: MIT */
/* runtime_file.c -- see runtime_file.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "util/clean.h"
#include "runtime_file.h"

#define NS_PER_SECOND 1000000000u

/* Limit in seconds between our last look at the process and the last write of
 * its file. Some runtimes write it at their very end. */
#define LATER_SECONDS 60

/* Whether STATUS is that of a usable file. File systems round times down, some
 * to a second. */
static bool
is_usable(const char *path, const struct stat *status, uint64_t start,
          uint64_t end, char **problem)
{
    uint64_t written = (uint64_t)status->st_mtim.tv_sec;
    const char *why = NULL;
    if (S_ISREG(status->st_mode) && status->st_uid != geteuid() &&
        status->st_uid != 0) {
        *problem = clean_format("%s is not used: it belongs to user %u", path,
                                (unsigned)status->st_uid);
        return false;
    }
    if (!S_ISREG(status->st_mode))
        why = "it is no regular file";
    else if (written < start / NS_PER_SECOND)
        why = "it is older than the process";
    else if (written > end / NS_PER_SECOND + LATER_SECONDS)
        why = "it was written after the process had ended";
    if (why != NULL)
        *problem = clean_format("%s is not used: %s", path, why);
    return why == NULL;
}

int
runtime_file_open(const char *path, uint64_t start, uint64_t end,
                  struct stat *status, char **problem)
{
    int fd =
        open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    *problem = NULL;
    if (fd < 0) {
        if (errno != ENOENT)
            *problem =
                clean_format("%s is not used: %s", path, strerror(errno));
        return -1;
    }
    if (fstat(fd, status) == 0 && is_usable(path, status, start, end, problem))
        return fd;
    close(fd);
    return -1;
}
