/* SPDX-License-Identifier: MIT */
/* follow.c -- see top.h. An open spool can be read to its end even after the
 * library has removed it from its directory. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/arguments.h"
#include "live/watch.h"
#include "store/reader.h"
#include "view/filter.h"
#include "top.h"

/* SERVER_SECONDS: the longest wait for a server of debug files, in seconds. The
 * display is refreshed every second, so it cannot wait longer. */
enum { SERVER_SECONDS = 5 };

/* SILENT_MOST: consecutive looks without a tick. After that many, the process
 * may have another spool. */
enum { SILENT_MOST = 2 };

/* Open the spool at follow->path and replace the current one. Returns 0, or -1
 * with a sentence in ERROR; the current spool then stays. */
static int
open_spool(struct follow *follow, char *error, size_t size)
{
    const struct symbolizer_options options = {.inlines = true,
                                               .full_names =
                                                   follow->filter->full_names,
                                               .server_seconds =
                                                   SERVER_SECONDS};
    struct reader *reader = reader_open(follow->path, error, size);
    struct stat now = {0};
    if (reader == NULL)
        goto err0;
    if (SPOOL_HAS_SEVERAL(reader_header(reader)->version)) {
        snprintf(error, size, "%s: expected the spool of one process",
                 follow->path);
        goto err1;
    }
    struct watch *watch = watch_new(reader, follow->filter, &options);
    if (watch == NULL) {
        snprintf(error, size, "%s", strerror(errno));
        goto err1;
    }
    if (follow->has_process)
        watch_tell_pid(watch, (uint32_t)follow->process.pid);
    reader_follow(reader);
    watch_free(follow->watch);
    reader_end(follow->reader);
    follow->watch = watch;
    follow->reader = reader;
    (void)stat(follow->path, &now);
    follow->device = now.st_dev;
    follow->inode = now.st_ino;
    return 0;

err1:
    reader_end(reader);
err0:
    return -1;
}

/* Find the process with the pid TEXT, and its spool. */
static int
find_process(struct follow *follow, const char *text, char *error, size_t size)
{
    pid_t pid;
    if (arguments_pid(text, &pid) != 0) {
        snprintf(error, size, "there is no process %s", text);
        return -1;
    }
    if (process_look(&follow->process, pid, error, size) != 0)
        return -1;
    return process_find_spool(pid, follow->path, sizeof(follow->path), error,
                              size);
}

/* Text of digits alone is a pid; a file with such a name is written "./4711". A
 * named file may belong to a process that has ended, or to another machine. */
int
follow_begin(struct follow *follow, const char *target,
             const struct filter_options *filter, char *error, size_t size)
{
    bool is_pid =
        target[0] != '\0' && target[strspn(target, "0123456789")] == '\0';
    *follow = (struct follow){.filter = filter, .has_process = is_pid};
    if (!follow->has_process)
        snprintf(follow->path, sizeof(follow->path), "%s", target);
    else if (find_process(follow, target, error, size) != 0)
        return -1;
    return open_spool(follow, error, size);
}

/* Follow the process's next spool if it already has one. The old spool was read
 * to its end, or gets no more records. Its sums are dropped, because they
 * belong to another program. */
static void
find_next(struct follow *follow)
{
    char path[sizeof(follow->path)], unused[512];
    struct stat now;
    if (process_find_spool(follow->process.pid, path, sizeof(path), unused,
                           sizeof(unused)) != 0 ||
        stat(path, &now) != 0 ||
        (now.st_dev == follow->device && now.st_ino == follow->inode))
        return;
    char before[sizeof(follow->path)];
    strcpy(before, follow->path);
    strcpy(follow->path, path);
    if (open_spool(follow, unused, sizeof(unused)) != 0)
        strcpy(follow->path, before);
}

/* Whether the spool has another file at its path: a flight recorder has begun
 * one. */
static bool
is_replaced(const struct follow *follow)
{
    struct stat now;
    return stat(follow->path, &now) == 0 &&
           (now.st_dev != follow->device || now.st_ino != follow->inode);
}

/* Whether the process lives is checked before the records are read. A process
 * that had ended by then has written its last record, and this look finds it.
 */
int
follow_look(struct follow *follow)
{
    bool is_alive = follow->has_process && process_is_alive(&follow->process);
    if (is_alive &&
        ((follow->watch->has_ended && follow->watch->reason == END_EXEC) ||
         follow->silent >= SILENT_MOST || follow->was_replaced))
        find_next(follow);
    follow->was_replaced = is_replaced(follow);
    if (watch_look(follow->watch) != 0)
        return -1;
    follow->silent =
        follow->watch->length[SPAN_INTERVAL] > 0 ? 0 : follow->silent + 1;
    follow->is_over =
        follow->has_process ? !is_alive : follow->watch->has_ended;
    return 0;
}

/* Why the library wrote the end record. */
static const char *
reason_word(enum end_reason reason)
{
    if (reason == END_EXEC)
        return "replaced itself by exec";
    return reason == END_SIZE ? "sampling is over: the spool is full"
                              : "sampling is over";
}

/* An old library does not record whether it samples; it is taken to be
 * sampling. */
const char *
follow_state(const struct follow *follow)
{
    static const char *const words[] = {
        [CONTROL_WAITING] = "waits to begin",
        [CONTROL_SAMPLING] = "sampling",
        [CONTROL_STOPPED] = "stopped",
        [CONTROL_OVER] = "sampling is over: the spool is full",
    };
    const struct watch *watch = follow->watch;
    if (follow->is_over)
        return "has ended";
    if (watch->has_ended)
        return reason_word(watch->reason);
    if (watch->has_control && watch->control <= CONTROL_OVER &&
        watch->control != CONTROL_SAMPLING)
        return words[watch->control];
    return follow->silent > 0 ? "sampling, but nothing new came"
                              : words[CONTROL_SAMPLING];
}

void
follow_end(struct follow *follow)
{
    watch_free(follow->watch);
    reader_end(follow->reader);
    *follow = (struct follow){0};
}
