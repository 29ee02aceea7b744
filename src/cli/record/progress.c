/* SPDX-License-Identifier: MIT */
/*
 * progress.c -- see progress.h. The line shares the terminal with a program
 * that is not aware of it. It is not shown while the program draws the screen
 * itself; the terminal is then not in canonical mode (termios(3)). It appears
 * only when nothing was written for half a second (wchar of /proc/PID/io,
 * proc(5)).
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/proc.h"
#include "base/text.h"
#include "cli/process/process.h"
#include "spools.h"
#include "progress.h"

void
progress_begin(struct progress *progress, pid_t pid, bool is_wanted)
{
    *progress =
        (struct progress){.is_wanted = is_wanted && isatty(STDERR_FILENO),
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
is_silent(struct progress *progress, const struct spools *spools)
{
    uint64_t before = progress->written;
    progress->written = written_by(progress->pid);
    for (size_t i = 0; i < spools->count; i++)
        if (!spools->all[i].is_over &&
            spools->all[i].pid != (uint32_t)progress->pid)
            progress->written += written_by((pid_t)spools->all[i].pid);
    return progress->written == before;
}

/* Whether the line may be drawn: this process is in the terminal's foreground,
 * and no program draws the screen itself. */
static bool
is_free(void)
{
    struct termios mode;
    return tcgetpgrp(STDERR_FILENO) == getpgrp() &&
           tcgetattr(STDERR_FILENO, &mode) == 0 && (mode.c_lflag & ICANON) != 0;
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
describe_recording(const struct progress *progress, const struct spools *spools,
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
    text_add_tenths(text, clock_now() - progress->start, NS_PER_SECOND);
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
progress_show(struct progress *progress, const struct spools *spools)
{
    if (!progress->is_wanted)
        return;
    if (!is_silent(progress, spools) || !is_free()) {
        progress_hide(progress);
        return;
    }
    char line[256];
    struct text text;
    text_begin(&text, line, sizeof(line));
    describe_recording(progress, spools, &text);
    fprintf(stderr, "\0337\033[K\033[?7lsprof: %s\033[?7h\0338", line);
    progress->is_shown = true;
}

/* Text that the program has written since then stands in front of the cursor.
 */
void
progress_hide(struct progress *progress)
{
    if (progress->is_shown)
        fputs("\033[K", stderr);
    progress->is_shown = false;
}
