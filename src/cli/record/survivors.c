/* SPDX-License-Identifier: MIT */
/*
 * survivors.c -- see survivors.h. A process has the variables that it was
 * started with in /proc/PID/environ (proc(5)), and its forked children have a
 * copy. Servers may write their titles over it. Such a process is one of ours
 * if it has the library and writes a spool of ours; it has 0.3 s to begin that.
 *
 * A static program has the variables and not the library. A process that
 * SPROF_ONLY or SPROF_FORK leaves out has both and no spool.
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

/* Time in which processes may end or begin a spool, and the pause between two
 * looks. */
enum { PATIENCE_NS = 300000000, PAUSE_MS = 20 };

/* Bytes of an environment that are looked at. */
enum { ENVIRONMENT = 1 << 20 };

/* What an environment says of its process. ORIGIN_CHOSEN: it is ours, and
 * SPROF_ONLY or SPROF_FORK may leave it out. */
enum origin { ORIGIN_OURS, ORIGIN_CHOSEN, ORIGIN_OTHER, ORIGIN_UNKNOWN };

/* Read the environment of PID into TEXT, which has room for ENVIRONMENT bytes.
 * Where a title lies over it, no variable is left. The kernel's own threads
 * have none. */
static enum origin
origin_of(pid_t pid, const char *directory, char *text)
{
    static const char output[] = "SPROF_OUTPUT=";
    char path[PROC_PATH_SIZE];
    bool has_variables = false, is_ours = false, is_chosen = false;
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
        const char *value = at + sizeof(output) - 1;
        has_variables |= strchr(at, '=') != NULL;
        if (strncmp(at, output, sizeof(output) - 1) == 0)
            is_ours =
                strncmp(value, directory, size) == 0 && value[size] == '/';
        is_chosen |= strncmp(at, "SPROF_ONLY=", 11) == 0 ||
                     strncmp(at, "SPROF_FORK=", 11) == 0;
    }
    if (!has_variables)
        return ORIGIN_UNKNOWN;
    return !is_ours ? ORIGIN_OTHER : is_chosen ? ORIGIN_CHOSEN : ORIGIN_OURS;
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
        if (origin == ORIGIN_OTHER)
            continue;
        bool is_recorded =
            (origin == ORIGIN_OURS && process_has_library(pid)) ||
            has_spool_in(pid, directory);
        may_come |= !is_recorded;
        if (origin == ORIGIN_UNKNOWN && !is_recorded)
            continue;
        struct survivor *more =
            realloc(survivors->all,
                    (survivors->count + 1) * sizeof(*survivors->all));
        if (more == NULL)
            break;
        survivors->all = more;
        more[survivors->count++] = (struct survivor){process, is_recorded};
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
        if (survivors->all[i].process.inner == (pid_t)spool->pid)
            return true;
    return false;
}

/* Print a line on those that are recorded, or on those that are not, and on
 * OTHERS, which have no name here. WHAT and ADVICE end the line. */
static void
say(const struct survivors *survivors, bool is_recorded, unsigned others,
    const char *what, const char *advice)
{
    char names[SURVIVORS_NAMED * 128];
    struct text text;
    unsigned named = 0;
    text_begin(&text, names, sizeof(names));
    for (unsigned i = 0; i < survivors->count; i++) {
        const struct survivor *one = &survivors->all[i];
        if (one->is_recorded != is_recorded || named++ >= SURVIVORS_NAMED)
            continue;
        text_add(&text, named == 1 ? " (" : ", ");
        text_add(&text, one->process.name);
        text_add(&text, " ");
        text_add_number(&text, (uint64_t)one->process.pid);
    }
    text_add(&text, named > SURVIVORS_NAMED ? ", ...)" : named > 0 ? ")" : "");
    if (named + others > 0)
        command_complain("%u of its processes still run%s%s%s%s",
                         named + others, named + others == 1 ? "s" : "", names,
                         what, advice);
}

void
survivors_say(const struct survivors *survivors, const struct spools *spools)
{
    static const char advice[] =
        ". To record all of a daemon, run it in the foreground, by its option "
        "for that; or without `record`, with LD_PRELOAD=libsprof.so, and see "
        "it by `sprofile top`";
    bool has_profile = !spools_are_empty(spools);
    unsigned others = 0;
    for (size_t i = 0; i < spools->count; i++)
        others +=
            spools_lives(spools, i) && !is_found(survivors, &spools->all[i]);
    say(survivors, true, others,
        has_profile ? "; the profile has what they did until now" : "", advice);
    say(survivors, false, 0,
        has_profile ? "; the profile has nothing of that, because the program "
                      "is static, of musl, or left out by SPROF_ONLY or "
                      "SPROF_FORK"
                    : "",
        "");
}

void
survivors_release(struct survivors *survivors)
{
    free(survivors->all);
    *survivors = (struct survivors){.count = 0};
}
