/* SPDX-License-Identifier: MIT */
/*
 * spools.c -- see spools.h. A spool has its counters near its beginning, and
 * they are updated in place (layout.h). So the cost of a look does not depend
 * on the length of the spool. Whether the process lives is asked before the
 * look, so that the counts of an ended process are final.
 *
 * The line shares the terminal with a program that is not aware of it. It is
 * not shown while the program draws the screen itself; the terminal is then not
 * in canonical mode (termios(3)). Nor is it shown while the program waits for a
 * line of the user: it would stand over the prompt. It appears only when
 * nothing was written for half a second (wchar of /proc/PID/io, proc(5)).
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <termios.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/options.h"
#include "base/path.h"
#include "base/proc.h"
#include "base/text.h"
#include "cli/process/process.h"
#include "store/reader.h"
#include "spools.h"

/* RECORDS: limit of the records that are searched for the counters. */
enum { RECORDS = 16 };

/* Let other users write to the superuser's directory: a program may change its
 * user, and processes that it starts then make spools, too. No user can read or
 * remove the spool of another. Returns 0, or -1 with errno set. */
static int
let_others_in(const struct spools *spools)
{
    if (geteuid() != 0 || chmod(spools->directory, S_ISVTX | 0733) == 0)
        return 0;
    int error = errno;
    rmdir(spools->directory);
    errno = error;
    return -1;
}

/* Show the processes which mounts we have. A failure is no error: they then
 * take their mounts for ours. */
static void
tell_mounts(const struct spools *spools)
{
    char path[PATH_MAX + 16], mounts[64];
    ssize_t length = readlink("/proc/self/ns/mnt", mounts, sizeof(mounts) - 1);
    mounts[length > 0 ? length : 0] = '\0';
    snprintf(path, sizeof(path), "%s/" RECORDING_MOUNTS, spools->directory);
    (void)symlink(mounts, path);
}

int
spools_begin(struct spools *spools, const char *out)
{
    const char *slash = strrchr(out, '/');
    int length = slash != NULL ? (int)(slash - out) + 1 : 0;
    *spools = (struct spools){.count = 0};
    char name[PATH_MAX];
    /* The path is absolute, so that it holds in whatever directory the
     * processes are. */
    if (snprintf(name, sizeof(name), "%.*s.", length, out) >= PATH_MAX - 32 ||
        realpath(name, spools->directory) == NULL)
        return -1;
    length = (int)strlen(spools->directory);
    if (length > PATH_MAX - 64) {
        errno = ENAMETOOLONG;
        return -1;
    }
    strcpy(spools->directory + length, "/" RECORDING_DIRECTORY "XXXXXX");
    if (mkdtemp(spools->directory) == NULL || let_others_in(spools) != 0)
        return -1;
    tell_mounts(spools);
    return 0;
}

/* Whether the file at PATH was made but has no content yet. */
static bool
has_no_header(const char *path)
{
    char magic[8] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t got = fd >= 0 ? read(fd, magic, sizeof(magic)) : -1;
    if (fd >= 0)
        close(fd);
    return got == 0 || (got > 0 && memcmp(magic, "\0\0\0\0\0\0\0", 8) == 0);
}

/* Copy the counters in READER to SPOOL. */
static void
take_counts(struct spool *spool, struct reader *reader)
{
    const struct record_counts *counts = NULL;
    enum record_kind kind = RECORD_FILLER;
    for (int i = 0; i < RECORDS && counts == NULL; i++) {
        const void *record = reader_next(reader, &kind);
        spool->is_empty =
            i == 0 && record == NULL && reader_problem(reader) == NULL;
        if (record == NULL)
            return;
        if (kind == RECORD_COUNTS)
            counts = record;
    }
    if (counts == NULL)
        return;
    spool->samples = counts->taken;
    spool->lost = 0;
    for (unsigned i = 0; i < counts->loss_count; i++)
        spool->lost += record_lost(counts, i);
}

/* Whether the spool's process lives: the process has the file locked. Its pid
 * does not show that, because it may be of another namespace or may have been
 * reused. */
static bool
process_lives(const struct spool *spool)
{
    int fd = open(spool->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool is_locked =
        fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (fd >= 0)
        close(fd);
    return is_locked;
}

/* Read the header and the counters of SPOOL again. */
static void
look_at_spool(struct spool *spool)
{
    char unused[512];
    bool is_last = spool->pid != 0 && !process_lives(spool);
    struct reader *reader = reader_open(spool->path, unused, sizeof(unused));
    spool->is_empty = reader == NULL && has_no_header(spool->path);
    if (reader == NULL)
        return;
    spool->pid = reader_header(reader)->pid;
    spool->start = reader_header(reader)->start_realtime;
    take_counts(spool, reader);
    spool->is_over = is_last;
    reader_end(reader);
}

static struct spool *
known_spool(const struct spools *spools, const char *name)
{
    for (size_t i = spools->count; i > 0; i--)
        if (strcmp(path_name(spools->all[i - 1].path), name) == 0)
            return &spools->all[i - 1];
    return NULL;
}

/* Add the file NAME, which was not known before. Returns 0, or -1 with errno
 * set. */
static int
add_spool(struct spools *spools, const char *name)
{
    struct spool *more =
        realloc(spools->all, (spools->count + 1) * sizeof(*more));
    if (more == NULL)
        return -1;
    spools->all = more;
    char *path;
    if (asprintf(&path, "%s/%s", spools->directory, name) < 0)
        return -1;
    more[spools->count++] = (struct spool){.path = path};
    return 0;
}

/* For qsort(3): oldest first. */
static int
compare_starts(const void *a, const void *b)
{
    const struct spool *one = a, *two = b;
    if (one->start != two->start)
        return one->start < two->start ? -1 : 1;
    return strcmp(one->path, two->path);
}

int
spools_look(struct spools *spools)
{
    DIR *directory = opendir(spools->directory);
    int result = 0;
    if (directory == NULL)
        return -1;
    const struct dirent *entry;
    while (result == 0 && (entry = readdir(directory)) != NULL)
        if (entry->d_name[0] != '.' &&
            known_spool(spools, entry->d_name) == NULL)
            result = add_spool(spools, entry->d_name);
    closedir(directory);
    for (size_t i = 0; i < spools->count; i++)
        if (!spools->all[i].is_over)
            look_at_spool(&spools->all[i]);
    if (spools->count > 0)
        qsort(spools->all, spools->count, sizeof(*spools->all), compare_starts);
    return result;
}

bool
spools_lives(const struct spools *spools, size_t i)
{
    const struct spool *spool = &spools->all[i];
    /* A flight recorder has two files, which are neighbours. */
    bool is_second =
        i > 0 && spool[-1].pid == spool->pid && spool[-1].start == spool->start;
    return !is_second && spool->pid != 0 && process_lives(spool);
}

/* Forget all spools; the files stay. */
static void
forget_spools(struct spools *spools)
{
    for (size_t i = 0; i < spools->count; i++)
        free(spools->all[i].path);
    free(spools->all);
    spools->all = NULL;
    spools->count = 0;
}

/* Processes know their spools by path. The directory is renamed, so that no
 * process renames or removes a spool while it is read. */
int
spools_detach(struct spools *spools)
{
    char away[PATH_MAX + 8];
    snprintf(away, sizeof(away), "%s.over", spools->directory);
    if (strlen(away) < PATH_MAX && rename(spools->directory, away) == 0)
        strcpy(spools->directory, away);
    forget_spools(spools);
    return spools_look(spools);
}

bool
spools_are_empty(const struct spools *spools)
{
    for (size_t i = 0; i < spools->count; i++)
        if (!spools->all[i].is_empty)
            return false;
    return true;
}

/* Remove the directory with all files in it. */
static void
remove_all(const struct spools *spools)
{
    DIR *directory = opendir(spools->directory);
    if (directory == NULL)
        return;
    const struct dirent *entry;
    while ((entry = readdir(directory)) != NULL)
        unlinkat(dirfd(directory), entry->d_name, 0);
    closedir(directory);
    rmdir(spools->directory);
}

void
spools_end(struct spools *spools, bool keep)
{
    if (!keep)
        remove_all(spools);
    forget_spools(spools);
}

void
spools_begin_line(struct spools_line *line, pid_t pid, bool is_wanted)
{
    *line =
        (struct spools_line){.is_wanted = is_wanted && isatty(STDERR_FILENO),
                             .pid = pid,
                             .start = clock_now()};
}

/* Bytes written so far by the process or thread, to any file. */
static uint64_t
written_by_thread(pid_t pid, pid_t tid)
{
    char text[512];
    if (proc_read(pid, tid, "/io", text, sizeof(text)) <= 0)
        return 0;
    return proc_number(proc_status_line(text, "wchar"));
}

/* For process_find_thread: subtract what the sampler has written. */
static bool
subtract_sampler(pid_t pid, pid_t tid, void *bytes)
{
    if (!process_is_sampler(pid, tid))
        return false;
    *(uint64_t *)bytes -= written_by_thread(pid, tid);
    return true;
}

/* Bytes that PID has written so far, without those of the sampler, which writes
 * the spool. The sampler is among the first threads of the directory. */
static uint64_t
written_by(pid_t pid)
{
    uint64_t bytes = written_by_thread(pid, PROC_PROCESS);
    process_find_thread(pid, subtract_sampler, &bytes);
    return bytes;
}

/* Whether no living process has written anything since the last call. */
static bool
is_silent(struct spools_line *line, const struct spools *spools)
{
    uint64_t before = line->written;
    line->written = written_by(line->pid);
    for (size_t i = 0; i < spools->count; i++)
        if (!spools->all[i].is_over &&
            spools->all[i].pid != (uint32_t)line->pid)
            line->written += written_by((pid_t)spools->all[i].pid);
    return line->written == before;
}

/* Whether DEVICE is /dev/tty (tty(4)), or the terminal of this process. */
static bool
is_terminal(dev_t device)
{
    struct stat ours;
    return device == makedev(5, 0) ||
           (fstat(STDERR_FILENO, &ours) == 0 && device == ours.st_rdev);
}

/* For process_find_thread: whether the thread waits in read(2) for a line of a
 * terminal. /proc/PID/task/TID/syscall has the number and the arguments of the
 * call (proc(5)). */
static bool
reads_terminal(pid_t pid, pid_t tid, void *unused)
{
    char text[256], path[PROC_PATH_SIZE], file[32];
    unsigned long long fd;
    long number;
    struct stat status;
    (void)unused;
    if (proc_read(pid, tid, "/syscall", text, sizeof(text)) <= 0 ||
        sscanf(text, "%ld %llx", &number, &fd) != 2 || number != SYS_read ||
        fd > INT_MAX)
        return false;
    snprintf(file, sizeof(file), "/fd/%llu", fd);
    return stat(proc_path(path, pid, PROC_PROCESS, file), &status) == 0 &&
           S_ISCHR(status.st_mode) && is_terminal(status.st_rdev);
}

/* Whether a living process waits for what the user types. */
static bool
is_asking(const struct spools_line *line, const struct spools *spools)
{
    bool is_asked = process_find_thread(line->pid, reads_terminal, NULL);
    for (size_t i = 0; i < spools->count && !is_asked; i++)
        is_asked = !spools->all[i].is_over &&
                   process_find_thread((pid_t)spools->all[i].pid,
                                       reads_terminal, NULL);
    return is_asked;
}

/* Whether the line may be drawn: this process is in the terminal's foreground,
 * no program draws the screen itself, and none asks for a password, or for
 * anything else. */
static bool
is_free(const struct spools_line *line, const struct spools *spools)
{
    struct termios mode;
    return tcgetpgrp(STDERR_FILENO) == getpgrp() &&
           tcgetattr(STDERR_FILENO, &mode) == 0 &&
           (mode.c_lflag & ICANON) != 0 && (mode.c_lflag & ECHO) != 0 &&
           !is_asking(line, spools);
}

/* The number of threads of PID without the sampler. The task directory has a
 * link for each thread and two of its own. */
static unsigned
threads_of(pid_t pid)
{
    char path[PROC_PATH_SIZE];
    proc_path(path, pid, PROC_PROCESS, "/task");
    struct stat task;
    return stat(path, &task) == 0 && task.st_nlink > 3
               ? (unsigned)task.st_nlink - 3
               : 0;
}

/* Write "12.4 s, 12,345 samples, 8 threads, 0 lost". */
static void
describe_recording(const struct spools_line *line, const struct spools *spools,
                   struct text *text)
{
    uint64_t samples = 0, lost = 0, threads = 0;
    for (size_t i = 0; i < spools->count; i++) {
        const struct spool *spool = &spools->all[i];
        samples += spool->samples;
        lost += spool->lost;
        if (!spool->is_over)
            threads += threads_of((pid_t)spool->pid);
    }
    text_add_tenths(text, clock_now() - line->start, NS_PER_SECOND);
    text_add(text, " s, ");
    text_add_grouped(text, samples);
    text_add(text, " samples, ");
    text_add_grouped(text, threads);
    text_add(text, threads == 1 ? " thread, " : " threads, ");
    text_add_grouped(text, lost);
    text_add(text, " lost");
}

/* The line is drawn from the cursor on. The cursor stays where it is, and the
 * line does not wrap. */
void
spools_show_line(struct spools_line *line, const struct spools *spools)
{
    if (!line->is_wanted)
        return;
    if (!is_silent(line, spools) || !is_free(line, spools)) {
        spools_hide_line(line);
        return;
    }
    char words[256];
    struct text text;
    text_begin(&text, words, sizeof(words));
    describe_recording(line, spools, &text);
    fprintf(stderr, "\0337\033[K\033[?7lsprof: %s\033[?7h\0338", words);
    line->is_shown = true;
}

/* Text that the program has written since then stands in front of the cursor.
 */
void
spools_hide_line(struct spools_line *line)
{
    if (line->is_shown)
        fputs("\033[K", stderr);
    line->is_shown = false;
}
