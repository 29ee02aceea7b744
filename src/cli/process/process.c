/* SPDX-License-Identifier: MIT */
/*
 * process.c -- see process.h. Pids are reused, so a pid alone does not identify
 * a process; pid and start time together do. A process whose main thread has
 * ended lives as long as another thread does, although its state is that of a
 * dead process.
 *
 * Its spool is a descriptor in the descriptor table of the sampler's thread,
 * which is a table of its own. Where a container forbids that, the spool is a
 * mapping without access rights. The file begins as a spool and has the pid of
 * the process in its header. One of these signs alone proves nothing: a program
 * may have the spools of other programs open, to show them.
 *
 * The path that /proc shows is the kernel's. It need not lead to the same file
 * here: the process may have another root (chroot, containers). Therefore every
 * path is tried as it is and below /proc/PID/root, and the file must have the
 * expected inode. On overlayfs inode numbers may differ, because the list may
 * show that of the lower layer; there the header alone must do. A removed file
 * is read through the descriptor.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/digits.h"
#include "base/path.h"
#include "base/proc.h"
#include "base/text.h"
#include "store/reader.h"
#include "process.h"

/* Bytes of a path, below /proc/PID/root if need be. */
enum { PATH_SIZE = PATH_MAX + 64 };

/* Limit of the searches for a spool, and the pause between two in ms. */
enum { ATTEMPTS = 4, PAUSE = 5 };

/* How surely a path is the spool, from no to yes. */
enum match { MATCH_NONE, MATCH_HEADER, MATCH_INODE };

struct search {
    const struct process *process;
    bool has_lines;         /* the list of mappings was not empty */
    bool has_library;       /* libsprof.so is mapped */
    char gone[PATH_SIZE];   /* a removed file with the name of a spool, or "" */
    char denied[PATH_SIZE]; /* a spool that could not be opened, or "" */
    int error;              /* errno of that failure */
    enum match match;       /* of the found file */
    uint64_t start;         /* of the found file, by its header */
    char path[PATH_SIZE];
};

/* Advice if a process may not be looked at. To root the kernel itself denies it
 * only beyond a container, or by a security module (ptrace(2)). */
static const char *
advice(void)
{
    return geteuid() == 0 ? "root of a container, or under a security module, "
                            "may not; try from outside"
                          : "try as its user, or as root";
}

/* Write to ERROR why PID cannot be read. Returns -1. */
static int
explain_unreadable(pid_t pid, char *error, size_t size)
{
    bool is_hidden = pid > 0 && (kill(pid, 0) == 0 || errno == EPERM);
    if (is_hidden)
        snprintf(error, size,
                 "process %ld may not be looked at: /proc hides it from you; "
                 "%s",
                 (long)pid, advice());
    else
        snprintf(error, size, "there is no process %ld", (long)pid);
    return -1;
}

int
process_look(struct process *process, pid_t pid, char *error, size_t size)
{
    *process = (struct process){.pid = pid, .name = "?"};
    char text[1 << 16];
    if (pid <= 0 ||
        proc_read(pid, PROC_PROCESS, "/status", text, sizeof(text)) <= 0)
        return explain_unreadable(pid, error, size);
    if (sscanf(proc_status_line(text, "Name"), "%63[^\n]", process->name) == 1)
        text_hide_controls(process->name);
    process->group = (pid_t)proc_number(proc_status_line(text, "Tgid"));
    process->state = *proc_status_line(text, "State");
    process->caught = proc_bits(proc_status_line(text, "SigCgt"));
    /* The line lists the pids from the namespace of this /proc to the process's
     * own (Linux 4.1). */
    const char *at = proc_status_line(text, "NSpid");
    do
        process->inner = (pid_t)digits_take(&at);
    while (*at++ == '\t');
    if (proc_read(pid, PROC_PROCESS, "/stat", text, sizeof(text)) > 0)
        process->start = proc_number(proc_stat_field(text, 22));
    if (process->group == 0 || process->start == 0)
        return explain_unreadable(pid, error, size); /* it has ended */
    if (process->inner == 0)
        process->inner = pid;
    return 0;
}

bool
process_find_thread(pid_t pid, bool (*is_wanted)(pid_t, pid_t, void *),
                    void *context)
{
    char path[PROC_PATH_SIZE];
    bool found = false;
    DIR *directory = opendir(proc_path(path, pid, PROC_PROCESS, "/task"));
    if (directory == NULL)
        return false;
    const struct dirent *entry;
    while (!found && (entry = readdir(directory)) != NULL)
        if (entry->d_name[0] != '.')
            found = is_wanted(pid, (pid_t)atol(entry->d_name), context);
    closedir(directory);
    return found;
}

bool
process_is_sampler(pid_t pid, pid_t tid)
{
    char name[32];
    return proc_read(pid, tid, "/comm", name, sizeof(name)) > 0 &&
           strcmp(name, "sprof\n") == 0;
}

/* For process_find_thread. */
static bool
is_other_thread(pid_t pid, pid_t tid, void *unused)
{
    (void)unused;
    return tid != pid;
}

bool
process_is_alive(const struct process *process)
{
    struct process now;
    char unused[256];
    if (process_look(&now, process->pid, unused, sizeof(unused)) != 0 ||
        now.start != process->start)
        return false;
    return (now.state != 'Z' && now.state != 'X') ||
           process_find_thread(process->pid, is_other_thread, NULL);
}

/* How well the file at PATH matches. INODE is the inode that the spool should
 * have. *START becomes the time at which the spool began. */
static enum match
match_of(const struct search *search, const char *path, uint64_t inode,
         uint64_t *start)
{
    struct stat now;
    if (stat(path, &now) != 0 || !reader_recognize(path))
        return MATCH_NONE;
    char unused[PATH_SIZE + 256];
    struct reader *reader = reader_open(path, unused, sizeof(unused));
    if (reader == NULL)
        return MATCH_NONE;
    *start =
        reader_header(reader)->start_monotonic + reader_header(reader)->begin;
    bool is_ours =
        reader_header(reader)->pid == (uint32_t)search->process->inner;
    reader_end(reader);
    if (!is_ours)
        return MATCH_NONE;
    return now.st_ino == inode ? MATCH_INODE : MATCH_HEADER;
}

/* Keep PATH if it is a spool of the process, and a surer or later one than what
 * was found before. Of a flight recorder's two files, the later is in use. */
static void
try_path(struct search *search, const char *path, uint64_t inode)
{
    uint64_t start = 0;
    enum match match = match_of(search, path, inode, &start);
    /* A flight recorder prepares its next spool under another name. */
    if (path_ends_with(path, ".next") || match == MATCH_NONE ||
        match < search->match ||
        (match == search->match && start <= search->start))
        return;
    search->match = match;
    search->start = start;
    snprintf(search->path, sizeof(search->path), "%s", path);
}

/* Note why PATH cannot be opened, if its name is that of a spool. */
static void
note_denied(struct search *search, const char *path)
{
    if (!path_ends_with(path, ".sprof"))
        return;
    FILE *stream = fopen(path, "re");
    if (stream != NULL) {
        fclose(stream);
        return;
    }
    search->error = errno;
    snprintf(search->denied, sizeof(search->denied), "%s", path);
}

/* The kernel writes a newline in a path as \012. It escapes nothing else. */
static void
unescape(char *path)
{
    for (char *at = path; (at = strstr(at, "\\012")) != NULL; at++) {
        *at = '\n';
        memmove(at + 1, at + 4, strlen(at + 4) + 1);
    }
}

/* Try the file PATH, which is open as a descriptor or a shared mapping. */
static void
try_file(struct search *search, char *path, uint64_t inode)
{
    static const char gone[] = " (deleted)";
    if (path_ends_with(path, gone)) {
        path[strlen(path) - strlen(gone)] = '\0';
        if (path_ends_with(path, ".sprof"))
            snprintf(search->gone, sizeof(search->gone), "%s", path);
        return;
    }
    char below[PATH_SIZE];
    for (int i = 0; i < 2; i++) {
        try_path(search, path, inode);
        if (snprintf(below, sizeof(below), "/proc/%ld/root%s",
                     (long)search->process->pid, path) < (int)sizeof(below))
            try_path(search, below, inode);
        if (search->match == MATCH_NONE)
            note_denied(search, below);
        if (strstr(path, "\\012") == NULL)
            break;
        unescape(path);
    }
}

/* Take a line of maps: "start-end rwxp offset major:minor inode   path". A file
 * may be mapped in several pieces. Each is looked at, because they are few. */
static void
take_line(struct search *search, char *line)
{
    int at = 0;
    search->has_lines = true;
    line[strcspn(line, "\n")] = '\0';
    unsigned long long inode;
    char rights[8];
    if (sscanf(line, "%*s %7s %*s %*s %llu %n", rights, &inode, &at) < 2 ||
        at == 0 || line[at] != '/')
        return;
    const char *slash = strrchr(line + at, '/');
    search->has_library |= strncmp(slash, "/libsprof.so", 12) == 0;
    if (strncmp(rights, "---s", 4) == 0)
        try_file(search, line + at, inode);
}

/* Read the list of mappings at PATH. Returns 0, or -1 with errno set if it
 * cannot be read. */
static int
read_maps(struct search *search, const char *path)
{
    FILE *stream = fopen(path, "re");
    char *line = NULL;
    size_t size = 0;
    if (stream == NULL)
        return -1;
    while (getline(&line, &size, stream) > 0)
        take_line(search, line);
    int problem = ferror(stream) ? errno : 0;
    free(line);
    fclose(stream);
    errno = problem;
    return problem == 0 ? 0 : -1;
}

/* Try the descriptor LINK, which has the form /proc/PID/task/TID/fd/N. */
static void
try_descriptor(struct search *search, const char *link)
{
    char path[PATH_SIZE];
    struct stat now;
    ssize_t length = readlink(link, path, sizeof(path) - 1);
    if (length <= 0 || path[0] != '/' || stat(link, &now) != 0 ||
        !S_ISREG(now.st_mode))
        return;
    path[length] = '\0';
    try_file(search, path, now.st_ino);
    /* No path leads to the file. */
    if (search->match == MATCH_NONE)
        try_path(search, link, now.st_ino);
}

/* For process_find_thread: try the descriptors of the thread, if it is the
 * sampler. */
static bool
try_thread(pid_t pid, pid_t tid, void *context)
{
    struct search *search = context;
    char path[PROC_PATH_SIZE], link[PROC_PATH_SIZE + NAME_MAX + 2];
    DIR *directory = NULL;
    if (process_is_sampler(pid, tid))
        directory = opendir(proc_path(path, pid, tid, "/fd"));
    if (directory == NULL)
        return false;
    const struct dirent *entry;
    while ((entry = readdir(directory)) != NULL)
        if (entry->d_name[0] != '.') {
            snprintf(link, sizeof(link), "%s/%s", path, entry->d_name);
            try_descriptor(search, link);
        }
    closedir(directory);
    return false;
}

/* For process_find_thread: read the list of mappings of the thread. */
static bool
has_maps(pid_t pid, pid_t tid, void *context)
{
    struct search *search = context;
    char path[PROC_PATH_SIZE];
    (void)read_maps(search, proc_path(path, pid, tid, "/maps"));
    return search->has_lines;
}

/* Read the list of mappings of the process. If its main thread has ended, that
 * list is empty, and the list of another thread is read. */
static int
read_all_maps(struct search *search)
{
    pid_t pid = search->process->pid;
    char path[PROC_PATH_SIZE];
    if (read_maps(search, proc_path(path, pid, PROC_PROCESS, "/maps")) != 0)
        return -1;
    if (!search->has_lines)
        process_find_thread(pid, has_maps, search);
    return 0;
}

/* Look for the spool. A flight recorder may open the next spool and close the
 * last one while the list is being read. Then the list may show neither, so it
 * is read again. */
static int
look_for_spool(struct search *search)
{
    const struct process *process = search->process;
    bool is_sure = false;
    for (int i = 0; !is_sure && i < ATTEMPTS; i++) {
        if (i > 0)
            poll(NULL, 0, PAUSE);
        *search = (struct search){.process = process};
        if (read_all_maps(search) != 0)
            return -1;
        if (search->has_library)
            process_find_thread(process->pid, try_thread, search);
        is_sure = search->match != MATCH_NONE || !search->has_library;
    }
    return 0;
}

/* Write to ERROR why no spool was found. Returns -1. */
static int
explain_absence(const struct search *search, char *error, size_t size)
{
    const struct process *process = search->process;
    long pid = (long)process->pid;
    if (!search->has_lines)
        snprintf(error, size, "process %ld (%s) has ended, or is the kernel's",
                 pid, process->name);
    else if (search->gone[0] != '\0')
        snprintf(error, size,
                 "process %ld (%s): its spool %s was removed, so nothing can "
                 "be learned of it",
                 pid, process->name, search->gone);
    else if (search->denied[0] != '\0')
        snprintf(error, size, "process %ld (%s): its spool: %s: %s", pid,
                 process->name, search->denied, strerror(search->error));
    else if (search->has_library)
        snprintf(error, size,
                 "process %ld (%s) is not profiled: libsprof.so is in it, but "
                 "SPROF_ONLY leaves it out, or its profile is over",
                 pid, process->name);
    else
        snprintf(error, size,
                 "process %ld (%s) is not profiled: it was started without "
                 "LD_PRELOAD=libsprof.so",
                 pid, process->name);
    text_hide_controls(error);
    return -1;
}

/* A tid has a directory in /proc, too. For a tid, the message names the process
 * that it belongs to. */
int
process_find_spool(pid_t pid, char *path, size_t path_size, char *error,
                   size_t error_size)
{
    struct process process;
    struct search search = {.process = &process};
    if (process_look(&process, pid, error, error_size) != 0)
        return -1;
    if (process.group != pid) {
        snprintf(error, error_size, "%ld is a thread of process %ld (%s)",
                 (long)pid, (long)process.group, process.name);
        return -1;
    }
    if (look_for_spool(&search) != 0) {
        bool is_denied = errno == EACCES || errno == EPERM;
        snprintf(error, error_size, "process %ld (%s) %s%s", (long)pid,
                 process.name,
                 is_denied ? "may not be looked at: " : "has ended",
                 is_denied ? advice() : "");
        return -1;
    }
    if (search.match == MATCH_NONE)
        return explain_absence(&search, error, error_size);
    if (strlen(search.path) >= path_size) {
        snprintf(error, error_size, "%s: the path is too long", search.path);
        return -1;
    }
    strcpy(path, search.path);
    return 0;
}

bool
process_has_library(pid_t pid)
{
    struct process process;
    struct search search = {.process = &process};
    char unused[256];
    return process_look(&process, pid, unused, sizeof(unused)) == 0 &&
           read_all_maps(&search) == 0 && search.has_library;
}

bool
process_spool_is_in(const char *path, const char *directory)
{
    struct stat wanted, now;
    char above[PATH_SIZE];
    const char *slash = strrchr(path, '/');
    if (slash == NULL)
        return false;
    snprintf(above, sizeof(above), "%.*s/", (int)(slash - path), path);
    return stat(directory, &wanted) == 0 && stat(above, &now) == 0 &&
           now.st_dev == wanted.st_dev && now.st_ino == wanted.st_ino;
}
