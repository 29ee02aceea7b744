/* SPDX-License-Identifier: MIT */
/*
 * survivors.c -- see survivors.h. A process has the variables that it was
 * started with in /proc/PID/environ (proc(5)), and its forked children have a
 * copy. Servers may write their titles over it. Such a process is one of ours
 * if it has the library and writes a spool of ours; it has 0.1 s to begin that.
 */
#include <dirent.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/proc.h"
#include "base/text.h"
#include "cli/command.h"
#include "spools.h"
#include "survivors.h"

/* How long processes are given to end or to begin a spool, and the pause
 * between two looks. */
enum { PATIENCE_NS = 300000000, PAUSE_MS = 20 };

/* Bytes of an environment that are looked at. */
enum { ENVIRONMENT = 1 << 20 };

/* What an environment says of its process. */
enum origin { ORIGIN_OURS, ORIGIN_OTHER, ORIGIN_UNKNOWN };

/* Read the environment of PID into TEXT, which has room for ENVIRONMENT bytes.
 * Where a title lies over it, no variable is left. The kernel's own threads
 * have none. */
static enum origin
origin_of(pid_t pid, const char *directory, char *text)
{
    static const char output[] = "SPROF_OUTPUT=";
    char path[PROC_PATH_SIZE];
    enum origin origin = ORIGIN_UNKNOWN;
    FILE *stream = fopen(proc_path(path, pid, PROC_PROCESS, "/environ"), "re");
    if (stream == NULL)
        return ORIGIN_OTHER;
    size_t length = fread(text, 1, ENVIRONMENT - 1, stream);
    text[length] = '\0';
    fclose(stream);
    if (length == 0)
        return ORIGIN_OTHER;
    for (const char *at = text; at < text + length; at += strlen(at) + 1) {
        size_t size = strlen(directory);
        if (strncmp(at, output, sizeof(output) - 1) == 0) {
            at += sizeof(output) - 1;
            return strncmp(at, directory, size) == 0 && at[size] == '/'
                       ? ORIGIN_OURS
                       : ORIGIN_OTHER;
        }
        if (strchr(at, '=') != NULL)
            origin = ORIGIN_OTHER;
    }
    return origin;
}

/* Whether the process writes a spool in DIRECTORY. */
static bool
has_spool_in(pid_t pid, const char *directory)
{
    char path[PATH_MAX + 64], unused[PATH_MAX + 512];
    return process_find_spool(pid, path, sizeof(path), unused,
                              sizeof(unused)) == 0 &&
           process_spool_is_in(path, directory);
}

/* Look at all processes once. Returns whether there may be more of ours later.
 */
static bool
look(struct survivors *survivors, const char *directory, char *text)
{
    char unused[512];
    struct process self, process;
    DIR *all = opendir("/proc");
    bool may_come = false;
    survivors->count = 0;
    const struct dirent *entry;
    (void)process_look(&self, getpid(), unused, sizeof(unused));
    while (all != NULL && (entry = readdir(all)) != NULL) {
        pid_t pid = (pid_t)atol(entry->d_name);
        if (pid <= 0 || pid == self.pid ||
            process_look(&process, pid, unused, sizeof(unused)) != 0 ||
            process.start < self.start || !process_is_alive(&process))
            continue;
        enum origin origin = origin_of(pid, directory, text);
        bool is_ours = origin == ORIGIN_OURS || (origin == ORIGIN_UNKNOWN &&
                                                 has_spool_in(pid, directory));
        may_come |= origin == ORIGIN_UNKNOWN && !is_ours;
        if (!is_ours)
            continue;
        struct process *more =
            realloc(survivors->all,
                    (survivors->count + 1) * sizeof(*survivors->all));
        if (more == NULL)
            break;
        survivors->all = more;
        more[survivors->count++] = process;
    }
    if (all != NULL)
        closedir(all);
    return may_come || survivors->count > 0;
}

void
survivors_find(struct survivors *survivors, const char *directory)
{
    *survivors = (struct survivors){.count = 0};
    char *text = malloc(ENVIRONMENT);
    uint64_t until = clock_now() + PATIENCE_NS;
    while (text != NULL && look(survivors, directory, text) &&
           clock_now() < until)
        poll(NULL, 0, PAUSE_MS);
    free(text);
}

/* Whether the process of SPOOL was found. */
static bool
is_found(const struct survivors *survivors, const struct spool *spool)
{
    for (unsigned i = 0; i < survivors->count; i++)
        if (survivors->all[i].inner == (pid_t)spool->pid)
            return true;
    return false;
}

void
survivors_say(const struct survivors *survivors, const struct spools *spools)
{
    char names[SURVIVORS_NAMED * 128];
    struct text text;
    unsigned named = survivors->count, others = 0;
    for (size_t i = 0; i < spools->count; i++)
        others +=
            spools_lives(spools, i) && !is_found(survivors, &spools->all[i]);
    if (named + others == 0)
        return;
    text_begin(&text, names, sizeof(names));
    for (unsigned i = 0; i < named && i < SURVIVORS_NAMED; i++) {
        text_add(&text, i == 0 ? " (" : ", ");
        text_add(&text, survivors->all[i].name);
        text_add(&text, " ");
        text_add_number(&text, (uint64_t)survivors->all[i].pid);
    }
    text_add(&text, named > SURVIVORS_NAMED ? ", ...)" : named > 0 ? ")" : "");
    command_complain("%u of its processes still run%s%s; the profile has what "
                     "they did until now. To record all of a daemon, run it in "
                     "the foreground, by its option for that; or without "
                     "`record`, with LD_PRELOAD=libsprof.so, and see it by "
                     "`sprofile top`",
                     named + others, named + others == 1 ? "s" : "", names);
}

void
survivors_release(struct survivors *survivors)
{
    free(survivors->all);
    *survivors = (struct survivors){.count = 0};
}
