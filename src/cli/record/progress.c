/* SPDX-License-Identifier: MIT */
/*
 * progress.c -- see progress.h. The line shares the terminal with a program
 * that is not aware of it. It is not shown while the program draws the screen
 * itself; the terminal is then not in canonical mode (termios(3)). It appears
 * only when nothing was written for half a second (wchar of /proc/PID/io,
 * proc(5)).
 */
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/proc.h"
#include "base/text.h"
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

/* Bytes written so far by the process or thread with the /proc directory
 * FOLDER, to any file. */
static uint64_t
written_in(const char *folder)
{
    char path[96];
    unsigned long long bytes = 0;
    snprintf(path, sizeof(path), "%s/io", folder);
    FILE *stream = fopen(path, "re");
    if (stream == NULL)
        return 0;
    char line[128];
    while (fgets(line, sizeof(line), stream) != NULL)
        if (sscanf(line, "wchar: %llu", &bytes) == 1)
            break;
    fclose(stream);
    return bytes;
}

/* Whether the thread in FOLDER is the library's sampler, which has this name.
 */
static bool
is_sampler(const char *folder)
{
    char path[96], name[32] = "";
    snprintf(path, sizeof(path), "%s/comm", folder);
    FILE *stream = fopen(path, "re");
    if (stream == NULL)
        return false;
    if (fgets(name, sizeof(name), stream) == NULL)
        name[0] = '\0';
    fclose(stream);
    return strcmp(name, "sprof\n") == 0;
}

/* Bytes that PID has written so far, without those of the sampler, which writes
 * the spool. The sampler is among the first threads of the directory. */
static uint64_t
written_by(pid_t pid)
{
    char folder[64];
    snprintf(folder, sizeof(folder), "/proc/%ld", (long)pid);
    uint64_t bytes = written_in(folder);
    snprintf(folder, sizeof(folder), "/proc/%ld/task", (long)pid);
    DIR *threads = opendir(folder);
    char thread[80];
    const struct dirent *entry;
    while (threads != NULL && (entry = readdir(threads)) != NULL) {
        if (entry->d_name[0] == '.' ||
            snprintf(thread, sizeof(thread), "%s/%s", folder, entry->d_name) >=
                (int)sizeof(thread) ||
            !is_sampler(thread))
            continue;
        bytes -= written_in(thread);
        break;
    }
    if (threads != NULL)
        closedir(threads);
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
