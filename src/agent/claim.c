/* SPDX-License-Identifier: MIT */
/*
 * claim.c -- see claim.h. Several processes may look at one file at the same
 * time. Only the process that has locked the file removes it, if it is still
 * the file at that path.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/proc.h"
#include "base/sys.h"
#include "store/layout.h"
#include "claim.h"

/* Limit of records in a spool without a sample. */
#define RECORDS_MOST 1000u

/* How exactly the start of a process is known, in ns. */
#define EXACT_NS 20000000u

static int
open_spool(const char *path)
{
    return (int)sys_open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
}

/* Whether no process has FD locked, and it is still the file at PATH. */
static bool
is_free(int fd, const char *path)
{
    struct stat open, named;
    return flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &open) == 0 &&
           lstat(path, &named) == 0 && open.st_dev == named.st_dev &&
           open.st_ino == named.st_ino;
}

static bool
read_at(int fd, uint64_t offset, void *bytes, size_t size)
{
    return sys_read_at(fd, bytes, size, offset) == (long)size;
}

/* Find the owner of the file with HEADER, which no process has locked. In
 * another PID namespace its pid has no meaning. */
static enum claim
judge(const struct spool_header *header, pid_t pid, uint64_t since)
{
    pid_t owner = (pid_t)header->pid;
    uint32_t namespace = proc_namespace();
    if (memcmp(header->magic, SPOOL_MAGIC, sizeof(header->magic)) != 0 ||
        owner <= 0)
        return CLAIM_LIVING;
    if (namespace != header->pid_namespace)
        return CLAIM_DEAD;
    if (owner != pid)
        return sys_kill(owner, 0) == -ESRCH ? CLAIM_DEAD : CLAIM_LIVING;
    bool is_earlier =
        namespace != 0 && header->start_realtime + EXACT_NS >= since;
    return is_earlier ? CLAIM_EARLIER : CLAIM_DEAD;
}

/* Whether the file FD, whose process is gone, has its last record: the end of a
 * spool is reserved and zero until it is closed. A summary always has room.
 * Older versions recognise a result by it alone. */
static bool
is_closed(int fd)
{
    static const unsigned char zeros[sizeof(struct record_summary)];
    unsigned char last[sizeof(zeros)];
    struct stat status;
    return fstat(fd, &status) == 0 && status.st_size >= (off_t)sizeof(last) &&
           read_at(fd, (uint64_t)status.st_size - sizeof(last), last,
                   sizeof(last)) &&
           memcmp(last, zeros, sizeof(last)) != 0;
}

/* How long the spool that a dead process left in FD is to stay. */
static enum claim
judge_rest(const struct spool_header *header, int fd)
{
    if (header->purpose == SPOOL_WANTED)
        return CLAIM_WANTED;
    return is_closed(fd) ? CLAIM_RESULT : CLAIM_DEAD;
}

static bool
is_result(const struct spool_header *header)
{
    return memcmp(header->magic, SPOOL_MAGIC, sizeof(header->magic)) == 0 &&
           (header->purpose == SPOOL_RESULT ||
            SPOOL_HAS_SEVERAL(header->version));
}

enum claim
claim_look(const char *path, pid_t pid, uint64_t (*since)(void))
{
    struct spool_header header;
    int fd = open_spool(path);
    if (fd < 0)
        return fd == -ENOENT ? CLAIM_NONE : CLAIM_LIVING;
    enum claim claim = CLAIM_LIVING;
    bool has_header = sys_read(fd, &header, sizeof(header)) == sizeof(header);
    if (has_header && is_result(&header))
        claim = CLAIM_RESULT;
    else if (has_header && is_free(fd, path))
        claim = judge(&header, pid, since());
    if (claim == CLAIM_DEAD)
        claim = judge_rest(&header, fd);
    sys_close(fd);
    return claim;
}

bool
claim_is_other(const char *path, pid_t pid, uint64_t start)
{
    struct spool_header header;
    int fd = open_spool(path);
    if (fd < 0)
        return fd != -EACCES && fd != -EMFILE && fd != -ENFILE;
    bool has_header = sys_read(fd, &header, sizeof(header)) == sizeof(header);
    sys_close(fd);
    return !has_header || is_result(&header) || header.pid != (uint32_t)pid ||
           header.pid_namespace != proc_namespace() ||
           header.start_monotonic != start;
}

/* Whether the first record of FD is that of a child of PARENT. */
static bool
is_of_child(int fd, pid_t parent)
{
    struct record_process process;
    return read_at(fd, sizeof(struct spool_header), &process,
                   sizeof(process)) &&
           (uint8_t)process.head == RECORD_PROCESS &&
           process.ppid == (uint32_t)parent;
}

/* Whether FD, a spool whose process was killed, has no sample: no stack, and no
 * thread was asked or looked at. */
static bool
is_empty(int fd)
{
    struct record_counts counts = {.taken = 1};
    uint64_t head, at = sizeof(struct spool_header);
    for (unsigned i = 0; i < RECORDS_MOST; i++, at += head >> 32) {
        if (read_at(fd, at, &head, sizeof(head)) && head == 0)
            return counts.taken + counts.peeked == 0;
        if ((uint8_t)head == RECORD_NODE || head >> 32 == 0)
            return false;
        if ((uint8_t)head == RECORD_COUNTS)
            (void)read_at(fd, at, &counts, sizeof(counts));
    }
    return false;
}

enum claim
claim_of_child(const char *path, pid_t parent, uint64_t start,
               struct spool_header *header)
{
    int fd = open_spool(path);
    if (fd < 0)
        return CLAIM_NONE;
    enum claim claim = CLAIM_NONE;
    bool is_left =
        sys_read(fd, header, sizeof(*header)) == sizeof(*header) &&
        memcmp(header->magic, SPOOL_MAGIC, sizeof(header->magic)) == 0 &&
        header->purpose == SPOOL_TEMPORARY &&
        header->pid_namespace == proc_namespace() &&
        header->start_monotonic >= start && is_of_child(fd, parent) &&
        is_free(fd, path);
    if (is_left && is_closed(fd))
        claim = CLAIM_RESULT;
    else if (is_left && sys_kill((pid_t)header->pid, 0) == -ESRCH &&
             is_empty(fd))
        claim = CLAIM_DEAD;
    sys_close(fd);
    return claim;
}

int
claim_remove(const char *path)
{
    int result = -1, fd = open_spool(path);
    if (fd < 0)
        return -1;
    if (is_free(fd, path))
        result = unlink(path);
    sys_close(fd);
    return result;
}
