/* SPDX-License-Identifier: MIT */
/*
 * fleet.c -- see fleet.h. To find the spool of a process takes a look at its
 * mappings and descriptors, so it is done once. After that a scan compares the
 * file at the spool's path with the one that is open: exec(2) renames the
 * spool, and a flight recorder puts another one in its place.
 *
 * Every profiled process has a thread called "sprof". A process without one is
 * a stranger, and is looked at again after some seconds: exec(2) may have
 * preloaded the library meanwhile.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "store/reader.h"
#include "store/record.h"
#include "util/array.h"
#include "fleet.h"

/* STRANGER_SECONDS: how long a process is believed to have no sampler.
 * MISSES_MOST: scans without a spool after which its process counts as ended,
 * although the pid lives: its image has changed, or its profile is over. */
enum { STRANGER_SECONDS = 5, MISSES_MOST = 3 };

/* MEMBERS_MOST: limit of the processes, including ended ones. Each has a
 * descriptor here. */
enum { MEMBERS_MOST = 4096 };

struct fleet_stranger {
    pid_t pid;
    uint64_t until; /* CLOCK_MONOTONIC, ns */
};

/* Fill in what the first record of the spool says of the process. Returns 0,
 * or -1 with errno set. */
static int
take_facts(struct member *member, struct reader *reader)
{
    enum record_kind kind;
    const struct record_process *process = reader_next(reader, &kind);
    bool is_there = process != NULL && kind == RECORD_PROCESS;
    member->exe = strdup(is_there ? record_exe(process) : "");
    member->command = strdup(is_there ? record_command(process) : "");
    member->host = strdup(is_there ? record_host(process) : "");
    if (member->exe == NULL || member->command == NULL || member->host == NULL)
        return -1;
    text_hide_controls(member->exe);
    text_hide_controls(member->command);
    text_hide_controls(member->host);
    return 0;
}

static void
close_spool(struct member *member)
{
    if (member->fd >= 0)
        close(member->fd);
    member->fd = -1;
}

/* Open the spool at member->path. Returns 0, or -1 if that is impossible. */
static int
open_spool(struct member *member)
{
    char unused[PATH_MAX + 256];
    struct stat now;
    struct reader *reader = reader_open(member->path, unused, sizeof(unused));
    if (reader == NULL)
        return -1;
    member->header = *reader_header(reader);
    int status = member->exe == NULL ? take_facts(member, reader) : 0;
    reader_end(reader);
    close_spool(member);
    member->fd =
        open(member->path, O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (status != 0 || member->fd < 0 || fstat(member->fd, &now) != 0)
        return -1;
    member->device = now.st_dev;
    member->inode = now.st_ino;
    return 0;
}

static void
free_member(struct member *member)
{
    if (member == NULL)
        return;
    close_spool(member);
    tally_release(&member->tally);
    free(member->exe);
    free(member->command);
    free(member->host);
    free(member);
}

/* Put MEMBER into its place. Returns 0, or -1 if the fleet is full. */
static int
insert(struct fleet *fleet, struct member *member)
{
    if (fleet->count >= MEMBERS_MOST ||
        !ARRAY_GROW(fleet->members, fleet->count))
        return -1;
    uint32_t at = fleet->count++;
    for (; at > 0 && fleet->members[at - 1]->process.pid > member->process.pid;
         at--)
        fleet->members[at] = fleet->members[at - 1];
    fleet->members[at] = member;
    return 0;
}

/* For process_find_thread. */
static bool
is_sampler(pid_t pid, pid_t tid, void *unused)
{
    (void)unused;
    return process_is_sampler(pid, tid);
}

enum look { LOOK_ADDED, LOOK_HIDDEN, LOOK_UNWANTED };

/* Add process PID, unless its spool cannot be read, or is not wanted. */
static enum look
add_process(struct fleet *fleet, pid_t pid)
{
    char unused[PATH_MAX + 512];
    struct member *member = calloc(1, sizeof(*member));
    enum look look = LOOK_HIDDEN;
    if (member == NULL)
        return look;
    member->fd = -1;
    if (process_look(&member->process, pid, unused, sizeof(unused)) != 0 ||
        process_find_spool(pid, member->path, sizeof(member->path), unused,
                           sizeof(unused)) != 0)
        goto end;
    look = LOOK_UNWANTED;
    if (fleet->only != NULL && !process_spool_is_in(member->path, fleet->only))
        goto end;
    look = LOOK_HIDDEN;
    if (open_spool(member) == 0 && insert(fleet, member) == 0)
        return LOOK_ADDED;

end:
    free_member(member);
    return look;
}

/* Whether a living process of the fleet has PID. */
static bool
is_member(const struct fleet *fleet, pid_t pid)
{
    for (uint32_t i = 0; i < fleet->count; i++)
        if (fleet->members[i]->process.pid == pid &&
            fleet->members[i]->ended == 0)
            return true;
    return false;
}

static bool
is_stranger(const struct fleet *fleet, pid_t pid)
{
    for (uint32_t i = 0; i < fleet->stranger_count; i++)
        if (fleet->strangers[i].pid == pid)
            return true;
    return false;
}

/* Believe for SECONDS that PID has no spool for us. Without memory, it is
 * looked at again in the next scan. */
static void
note_stranger(struct fleet *fleet, pid_t pid, unsigned seconds)
{
    if (ARRAY_GROW(fleet->strangers, fleet->stranger_count))
        fleet->strangers[fleet->stranger_count++] =
            (struct fleet_stranger){pid, fleet->scanned +
                                             seconds * (uint64_t)NS_PER_SECOND};
}

static void
forget_strangers(struct fleet *fleet)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < fleet->stranger_count; i++)
        if (fleet->strangers[i].until > fleet->scanned)
            fleet->strangers[kept++] = fleet->strangers[i];
    fleet->stranger_count = kept;
}

/* Whether PID may be about to load the library. */
static bool
is_young(pid_t pid)
{
    char unused[256];
    struct process process;
    struct timespec now;
    uint64_t hertz = (uint64_t)sysconf(_SC_CLK_TCK);
    clock_gettime(CLOCK_BOOTTIME, &now);
    return process_look(&process, pid, unused, sizeof(unused)) == 0 &&
           process.start / hertz + STRANGER_SECONDS > (uint64_t)now.tv_sec;
}

/* Look at PID, which is not of the fleet. A process that has just begun has no
 * spool yet; it is looked at again soon. */
static void
look_at(struct fleet *fleet, pid_t pid)
{
    enum look look = process_find_thread(pid, is_sampler, NULL)
                         ? add_process(fleet, pid)
                         : LOOK_UNWANTED;
    if (look == LOOK_UNWANTED)
        note_stranger(fleet, pid, is_young(pid) ? 1 : STRANGER_SECONDS);
    if (look == LOOK_HIDDEN) {
        fleet->hidden++;
        note_stranger(fleet, pid, 1);
    }
}

/* Whether the file at the path of MEMBER is the spool that is open. */
static bool
is_in_place(const struct member *member)
{
    struct stat now;
    return stat(member->path, &now) == 0 && now.st_dev == member->device &&
           now.st_ino == member->inode;
}

/* The spool of MEMBER, which lives, is no longer in its place. A flight
 * recorder goes on in another file; another image is another member. */
static void
follow_spool(struct member *member, uint64_t now)
{
    struct member next = {.fd = -1, .exe = member->exe};
    char unused[512];
    bool is_there =
        process_find_spool(member->process.pid, next.path, sizeof(next.path),
                           unused, sizeof(unused)) == 0 &&
        open_spool(&next) == 0;
    if (!is_there) {
        close_spool(&next);
        if (++member->misses >= MISSES_MOST)
            member->ended = now;
        return;
    }
    member->misses = 0;
    if (next.header.start_monotonic != member->header.start_monotonic) {
        close_spool(&next);
        member->ended = now;
        return;
    }
    (void)fleet_count(member);
    tally_change_spool(&member->tally);
    close_spool(member);
    strcpy(member->path, next.path);
    member->header = next.header;
    member->fd = next.fd;
    member->device = next.device;
    member->inode = next.inode;
}

static void
check_members(struct fleet *fleet)
{
    for (uint32_t i = 0; i < fleet->count; i++) {
        struct member *member = fleet->members[i];
        if (member->ended != 0)
            continue;
        if (!process_is_alive(&member->process))
            member->ended = fleet->scanned;
        else if (is_in_place(member))
            member->misses = 0;
        else
            follow_spool(member, fleet->scanned);
    }
}

/* Free the members that ended long ago, and are not NEEDED. */
static void
forget_members(struct fleet *fleet, uint64_t needed)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < fleet->count; i++) {
        struct member *member = fleet->members[i];
        bool is_old = member->ended != 0 && member->ended < needed &&
                      fleet->scanned - member->ended >
                          FLEET_KEPT_SECONDS * (uint64_t)NS_PER_SECOND;
        if (is_old)
            free_member(member);
        else
            fleet->members[kept++] = member;
    }
    fleet->count = kept;
}

int
fleet_scan(struct fleet *fleet, uint64_t needed)
{
    DIR *directory = opendir("/proc");
    const struct dirent *entry;
    if (directory == NULL)
        return -1;
    fleet->scanned = clock_now();
    fleet->hidden = 0;
    forget_strangers(fleet);
    check_members(fleet);
    while ((entry = readdir(directory)) != NULL) {
        pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
        if (pid > 0 && !is_member(fleet, pid) && !is_stranger(fleet, pid))
            look_at(fleet, pid);
    }
    closedir(directory);
    forget_members(fleet, needed);
    return 0;
}

const char *
fleet_path(const struct member *member, char *text, size_t size)
{
    if (is_in_place(member))
        snprintf(text, size, "%s", member->path);
    else
        snprintf(text, size, "/proc/self/fd/%d", member->fd);
    return text;
}

int
fleet_count(struct member *member)
{
    char path[PATH_MAX + 64], unused[PATH_MAX + 256];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", member->fd);
    return tally_look(&member->tally, path, unused, sizeof(unused));
}

void
fleet_release(struct fleet *fleet)
{
    for (uint32_t i = 0; i < fleet->count; i++)
        free_member(fleet->members[i]);
    free(fleet->members);
    free(fleet->strangers);
    *fleet = (struct fleet){.count = 0};
}
