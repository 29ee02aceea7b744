/* SPDX-License-Identifier: MIT */
/*
 * brief.c -- see brief.h. brief_write runs on the thread that ends the process.
 * That thread may have interrupted malloc, so the records are made in memory
 * from mmap(2). One system call writes all records, so no file has half a
 * spool. They go into a file that all such processes share. If the shared file
 * cannot be used, they go into a file of this process.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/arch.h"
#include "base/clock.h"
#include "base/digits.h"
#include "base/sys.h"
#include "base/text.h"
#include "journal/journal.h"
#include "journal/journal_process.h"
#include "sampling/registry.h"
#include "store/spool_file.h"
#include "setup.h"
#include "brief.h"

/* ROOM limits the size of one spool, in bytes. A spool has two paths and some
 * words. */
#define ROOM (16u << 10)

/* The name of the shared file, in the directory of the first output. It holds
 * the brief spools of many processes (layout.h, NEXT). A file for each process
 * would take more CPU time than the process has used. */
#define SHARED_FILE "brief.sprof"

struct shared_file {
    int fd;        /* locked until close_shared (flock(2)) */
    uint64_t size; /* in bytes: the next spool begins there; 0: no spool yet */
};

/* A process can be stopped (SIGSTOP, a debugger) while it holds the lock. Other
 * processes must not wait until it goes on. So they make at most TRIES tries,
 * and then use a file of their own. PAUSE_NS is the time between two tries, in
 * ns. To write one spool takes some 10 us. */
#define TRIES 20
#define PAUSE_NS 100000u

/* SIZE_MOST limits the size of the shared file, in bytes. */
#define SIZE_MOST (1u << 30)

/* The spool that is being made. */
struct sheet {
    char *bytes;
    size_t used;
    uint64_t start; /* its future position in the file, in bytes */
};

static void
put(struct sheet *sheet, const void *bytes, size_t size)
{
    if (sheet->used + size > ROOM - 8)
        return;
    memcpy(sheet->bytes + sheet->used, bytes, size);
    sheet->used += size;
}

static void
put_record(struct sheet *sheet, enum record_kind kind, const void *fixed,
           size_t size, const struct writer_tail *tail, size_t parts)
{
    size_t start = sheet->used;
    put(sheet, fixed, size);
    for (size_t i = 0; i < parts; i++)
        put(sheet, tail[i].data, tail[i].length);
    /* The record is complete. Fill it up to 8 bytes, and write its head. */
    sheet->used = (sheet->used + 7) & ~(size_t)7;
    uint64_t head = record_head(sheet->start + start, (uint8_t)kind, 0,
                                (uint32_t)(sheet->used - start));
    memcpy(sheet->bytes + start, &head, sizeof(head));
}

/* Add the header of a file. After another spool, add a record NEXT instead,
 * which begins another process. */
static void
put_header(struct sheet *sheet, bool is_shared, pid_t pid, uint64_t since)
{
    uint64_t realtime = clock_realtime() - (clock_now() - since);
    struct spool_header header = {.version = is_shared ? SPOOL_VERSION_SEVERAL
                                                       : SPOOL_VERSION,
                                  .header_size = sizeof(header),
                                  .start_monotonic = since,
                                  .start_realtime = realtime,
                                  .pid = (uint32_t)pid,
                                  .machine = ARCH_MACHINE,
                                  .purpose = SPOOL_WANTED};
    struct record_next next = {.start_monotonic = since,
                               .start_realtime = realtime,
                               .pid = (uint32_t)pid,
                               .machine = ARCH_MACHINE};
    memcpy(header.magic, SPOOL_MAGIC, sizeof(header.magic));
    if (sheet->start == 0)
        put(sheet, &header, sizeof(header));
    else
        put_record(sheet, RECORD_NEXT, &next, sizeof(next), NULL, 0);
}

static void
put_process(struct sheet *sheet, const struct config *config,
            const struct record_process *process)
{
    struct process_record made;
    journal_process_record(&made, process, config->exe, config->command);
    put_record(sheet, RECORD_PROCESS, &made.fixed, sizeof(made.fixed),
               made.tail, PROCESS_RECORD_PARTS);
}

static void
put_counts(struct sheet *sheet, uint64_t time)
{
    const uint64_t words[(unsigned)LOSS_COUNT + CUT_COUNT + 1] = {
        [(unsigned)LOSS_COUNT + CUT_COUNT] = clock_expired};
    const struct writer_tail tail = {words, sizeof(words)};
    struct record_counts counts = {.time = time,
                                   .process_cpu = clock_process(),
                                   .loss_count = LOSS_COUNT,
                                   .cut_count = CUT_COUNT};
    put_record(sheet, RECORD_COUNTS, &counts, sizeof(counts), &tail, 1);
}

/* Add the record of the rate. All CPU ns were used too early for a sample. */
static void
put_rate(struct sheet *sheet, uint64_t period, uint64_t cpu)
{
    struct rate_entry entries[LIMIT_COUNT] = {[LIMIT_EARLY] = {.cpu = cpu}};
    const struct writer_tail tail = {entries, sizeof(entries)};
    struct record_rate rate = {.period = period,
                               .tick = clock_tick(),
                               .count = LIMIT_COUNT};
    put_record(sheet, RECORD_RATE, &rate, sizeof(rate), &tail, 1);
}

/* Add the records of the only thread, which used CPU ns. */
static void
put_thread(struct sheet *sheet, pid_t pid, uint64_t time, uint64_t cpu)
{
    char name[16] = "";
    arch_syscall(SYS_prctl, PR_GET_NAME, (long)name, 0, 0, 0, 0);
    const struct writer_tail tail = {name, strlen(name) + 1};
    struct record_thread thread = {.id = 1,
                                   .tid = (uint32_t)pid,
                                   .name_length = (uint16_t)tail.length};
    struct record_thread_end end = {.id = 1,
                                    .time = time,
                                    .cpu = cpu,
                                    .flags =
                                        THREAD_END_EXACT | THREAD_END_ALIVE};
    put_record(sheet, RECORD_THREAD, &thread, sizeof(thread), &tail, 1);
    put_record(sheet, RECORD_THREAD_END, &end, sizeof(end), NULL, 0);
}

/* Write to PATH of SIZE bytes the path of the file NAME. It is in the directory
 * of the first output in FILES. */
static void
name_beside(const struct config_files *files, const char *name, char *path,
            size_t size)
{
    const char *slash = strrchr(files->outputs[0], '/');
    struct text text;
    text_begin(&text, path, size);
    if (slash != NULL)
        text_add_bytes(&text, files->outputs[0],
                       (size_t)(slash + 1 - files->outputs[0]));
    text_add(&text, name);
}

static bool
lock(int fd)
{
    static _Atomic uint32_t never;
    for (int i = 0; i < TRIES; i++) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0)
            return true;
        sys_futex_wait(&never, 0, clock_now() + PAUSE_NS);
    }
    return false;
}

/* Whether this process may add ROOM bytes to the file that STATUS describes. */
static bool
has_room(const struct stat *status, size_t room)
{
    uint64_t end = (uint64_t)status->st_size + room;
    return S_ISREG(status->st_mode) && status->st_uid == sys_geteuid() &&
           status->st_size % 8 == 0 && end < SIZE_MOST &&
           spool_file_may_have(end);
}

/* Open and lock the shared file, and create it if it does not exist. The caller
 * adds at most ROOM bytes. Returns 0, or -1 if the file cannot be used. Such a
 * file is another user's, too large, or locked by another process. */
static int
open_shared(struct shared_file *file, const struct config_files *files,
            size_t room)
{
    char path[PATH_MAX];
    struct stat status;
    name_beside(files, SHARED_FILE, path, sizeof(path));
    long fd =
        arch_syscall(SYS_openat, AT_FDCWD, (long)path,
                     O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
                     0600, 0, 0);
    if (fd < 0)
        return -1;
    file->fd = (int)fd;
    if (lock(file->fd) && fstat(file->fd, &status) == 0 &&
        has_room(&status, room)) {
        file->size = (uint64_t)status.st_size;
        return 0;
    }
    sys_close(file->fd);
    return -1;
}

/* Add SIZE BYTES to the file, and close it. If not all bytes can be written,
 * none is added. */
static void
close_shared(struct shared_file *file, const void *bytes, size_t size)
{
    long written = arch_syscall(SYS_pwrite64, file->fd, (long)bytes, (long)size,
                                (long)file->size, 0, 0);
    if (written != (long)size)
        arch_syscall(SYS_ftruncate, file->fd, (long)file->size, 0, 0, 0, 0);
    sys_close(file->fd);
}

static long
make_file(const char *path)
{
    return arch_syscall(SYS_openat, AT_FDCWD, (long)path,
                        O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                        0600, 0, 0);
}

/* Write SHEET to a file of this process. */
static void
save(const struct sheet *sheet, const struct config *config,
     struct config_files *files, pid_t pid)
{
    char unused[512];
    if (!spool_file_may_have(sheet->used))
        return;
    /* The first try uses the plain name, which is free in most cases. */
    long fd = make_file(files->spool);
    for (unsigned attempt = 0; fd < 0 && attempt < 8; attempt++)
        if (config_name_files(config, pid, attempt, files, unused,
                              sizeof(unused)) == 0)
            fd = make_file(files->spool);
    if (fd < 0)
        return;
    arch_syscall(SYS_write, fd, (long)sheet->bytes, (long)sheet->used, 0, 0, 0);
    sys_close((int)fd);
}

/* Add all records of the process, which used CPU ns. */
static void
put_all(struct sheet *sheet, const struct config *config,
        const struct settings *settings, enum end_reason reason, pid_t pid,
        uint64_t cpu)
{
    uint64_t time = clock_now() - settings->start;
    struct record_process process;
    setup_process(settings, &process);
    put_process(sheet, config, &process);
    put_counts(sheet, time);
    put_rate(sheet, process.period, cpu);
    put_thread(sheet, pid, time, cpu);
    struct record_summary summary = journal_summary(time, reason);
    put_record(sheet, RECORD_SUMMARY, &summary, sizeof(summary), NULL, 0);
}

/* Returns the CPU clock of thread TID when the thread registered, but at least
 * BEFORE. A thread that did not register has no time in the profile: then
 * returns CLOCK, its present clock. */
static uint64_t
registered_clock(pid_t tid, uint64_t before, uint64_t clock)
{
    struct registry_moment begin;
    if (!registry_find(tid, &begin))
        return clock;
    return begin.clock > before ? begin.clock : before;
}

void
brief_write(const struct config *config, const struct settings *settings,
            struct config_files *files, enum end_reason reason)
{
    pid_t pid = sys_getpid();
    uint64_t clock = clock_thread(pid);
    uint64_t before = brief_take(files, pid);
    struct sheet sheet = {.bytes = sys_reserve(ROOM)};
    struct shared_file file;
    if (before < settings->base)
        before = settings->base;
    if (settings_registered_only(settings))
        before = registered_clock(pid, before, clock);
    if (sheet.bytes == NULL || clock == CLOCK_NONE || clock < before)
        return;
    bool is_shared = open_shared(&file, files, ROOM) == 0;
    sheet.start = is_shared ? file.size : 0;
    put_header(&sheet, is_shared, pid, settings->start);
    put_all(&sheet, config, settings, reason, pid, clock - before);
    if (is_shared)
        close_shared(&file, sheet.bytes, sheet.used);
    else
        save(&sheet, config, files, pid);
    sys_release(sheet.bytes, ROOM);
}

/* Write to PATH of SIZE bytes the path of the link ".PID" beside FILES. */
static void
name_word(char *path, size_t size, const struct config_files *files, pid_t pid)
{
    char name[32];
    struct text text;
    text_begin(&text, name, sizeof(name));
    text_add(&text, ".");
    text_add_number(&text, (uint64_t)pid);
    name_beside(files, name, path, size);
}

void
brief_leave(const struct config_files *files, pid_t pid, uint64_t cpu)
{
    char path[PATH_MAX], word[32];
    struct text text;
    name_word(path, sizeof(path), files, pid);
    text_begin(&text, word, sizeof(word));
    text_add_number(&text, cpu);
    (void)unlink(path);
    arch_syscall(SYS_symlinkat, (long)word, AT_FDCWD, (long)path, 0, 0, 0);
}

uint64_t
brief_take(const struct config_files *files, pid_t pid)
{
    char path[PATH_MAX], word[32];
    const char *at = word;
    name_word(path, sizeof(path), files, pid);
    if (sys_read_link_at(AT_FDCWD, path, word, sizeof(word)) <= 0)
        return 0;
    /* The kernel uses process ids again. A later process with this id must
     * not find the link. */
    (void)unlink(path);
    return digits_take(&at);
}
