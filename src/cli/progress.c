/* SPDX-License-Identifier: MIT */
/*
 * progress.c -- see progress.h. The line shares the terminal with a program
 * that knows nothing of it. It stays away where the program draws the screen
 * itself (the terminal is then not in canonical mode, termios(3)), and appears
 * only when nothing was written for half a second (wchar of /proc/PID/io,
 * proc(5)).
 */
#include "progress.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"

#include "spools.h"

void
progress_begin(struct progress *progress, pid_t pid, bool is_wanted)
{
    *progress =
        (struct progress){.is_wanted = is_wanted && isatty(STDERR_FILENO),
                          .pid = pid,
                          .start = clock_now()};
}

/* Bytes that the process, or the thread, in the folder FOLDER of /proc has
 * written so far, wherever to. */
static uint64_t
written_in(const char *folder)
{
    char path[96], line[128];
    unsigned long long bytes = 0;
    FILE *stream;

    snprintf(path, sizeof path, "%s/io", folder);
    stream = fopen(path, "re");
    if (stream == NULL)
        return 0;
    while (fgets(line, sizeof line, stream) != NULL)
        if (sscanf(line, "wchar: %llu", &bytes) == 1)
            break;
    fclose(stream);
    return bytes;
}

/* Whether the thread in FOLDER is the library's, which has this name. */
static bool
is_sampler(const char *folder)
{
    char path[96], name[32] = "";
    FILE *stream;

    snprintf(path, sizeof path, "%s/comm", folder);
    stream = fopen(path, "re");
    if (stream == NULL)
        return false;
    if (fgets(name, sizeof name, stream) == NULL)
        name[0] = '\0';
    fclose(stream);
    return strcmp(name, "sprof\n") == 0;
}

/* Bytes that PID has written so far, but for those of the library's thread,
 * which writes the spool. That thread is among the first. */
static uint64_t
written_by(pid_t pid)
{
    char folder[64], thread[80];
    const struct dirent *entry;
    uint64_t bytes;
    DIR *threads;

    snprintf(folder, sizeof folder, "/proc/%ld", (long)pid);
    bytes = written_in(folder);
    snprintf(folder, sizeof folder, "/proc/%ld/task", (long)pid);
    threads = opendir(folder);
    while (threads != NULL && (entry = readdir(threads)) != NULL) {
        if (entry->d_name[0] == '.' ||
            snprintf(thread, sizeof thread, "%s/%s", folder, entry->d_name) >=
                (int)sizeof thread ||
            !is_sampler(thread))
            continue;
        bytes -= written_in(thread);
        break;
    }
    if (threads != NULL)
        closedir(threads);
    return bytes;
}

/* Whether all that live have written nothing since the last call. */
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

/* Whether a line may be drawn on the terminal: we are in its foreground, and
 * nobody draws it character by character. */
static bool
is_free(void)
{
    struct termios mode;

    return tcgetpgrp(STDERR_FILENO) == getpgrp() &&
           tcgetattr(STDERR_FILENO, &mode) == 0 && (mode.c_lflag & ICANON) != 0;
}

/* Threads of PID but for the sampler: its task directory has a link from each,
 * and two of its own. */
static unsigned
threads_of(pid_t pid)
{
    char path[64];
    struct stat task;

    snprintf(path, sizeof path, "/proc/%ld/task", (long)pid);
    return stat(path, &task) == 0 && task.st_nlink > 3
               ? (unsigned)task.st_nlink - 3
               : 0;
}

/* "12.4 s, 12,345 samples, 8 threads, 0 lost". */
static void
describe(const struct progress *progress, const struct spools *spools,
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

/* From the cursor on, which stays where it is; not into the next line. */
void
progress_show(struct progress *progress, const struct spools *spools)
{
    char line[256];
    struct text text;

    if (!progress->is_wanted)
        return;
    if (!is_silent(progress, spools) || !is_free()) {
        progress_hide(progress);
        return;
    }
    text_begin(&text, line, sizeof line);
    describe(progress, spools, &text);
    fprintf(stderr, "\0337\033[K\033[?7lsprof: %s\033[?7h\0338", line);
    progress->is_shown = true;
}

/* What the program has written since then stands in front of the cursor. */
void
progress_hide(struct progress *progress)
{
    if (progress->is_shown)
        fputs("\033[K", stderr);
    progress->is_shown = false;
}
