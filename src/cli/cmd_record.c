/* SPDX-License-Identifier: MIT */
/*
 * cmd_record.c -- `sprofile record`: runs a program with the library preloaded
 * and makes one profile of all its processes. They write their spools to a
 * directory beside the output. When the program has ended, the spools are read,
 * summed up and removed. If anything fails after the program's end, the spools
 * stay.
 */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/path.h"
#include "cli/record/launch.h"
#include "cli/record/program.h"
#include "cli/record/progress.h"
#include "cli/record/settings.h"
#include "cli/record/spools.h"
#include "model/profile.h"
#include "read/totals.h"
#include "show/run_summary.h"
#include "command.h"
#include "inputs.h"
#include "outputs.h"

/* The exit statuses of a shell for a program that cannot be run, or is not
 * there. */
enum { STATUS_NOT_RUN = 126, STATUS_NOT_FOUND = 127 };

static const char help[] =
    "usage: sprofile record [OPTION]... [--] COMMAND [ARGUMENT]...\n"
    "\n"
    "Runs COMMAND and writes one profile of all its processes when it has\n"
    "ended, also of those that were killed. The exit status is COMMAND's: 128\n"
    "+ n if signal n killed it, 127 if it was not found, 126 if it could not\n"
    "be run; or 1 if it would be 0 and there is no profile.\n"
    "\n"
    "  -o, --output FILE    the profile; its ending picks the format\n"
    "                       (`sprofile convert --help`). Repeated, or with\n"
    "                       commas between names, it writes several. By\n"
    "                       default sprof.COMMAND.PID.sprof, which has all\n"
    "  -F, --frequency HZ   sample points a second for each thread, 1000 by\n"
    "                       default\n"
    "  -m, --mode MODE      wall: every thread, running or waiting (the\n"
    "                       default); cpu: only threads that run\n"
    "  -d, --duration S     seconds of sampling; COMMAND goes on after them\n"
    "      --full-names     functions with parameters, return types and all\n"
    "                       template arguments\n"
    "      --wall           wall time in formats that have one value for each\n"
    "                       stack (folded, speedscope), not CPU time\n"
    "      --no-progress    no line on the terminal while COMMAND runs\n"
    "  -q, --quiet          that, and no summary\n"
    "      --help           this page\n"
    "\n"
    "The variables SPROF_... hold as with LD_PRELOAD alone, but for\n"
    "SPROF_OUTPUT, SPROF_SYMBOLIZE, and those that an option stands for.\n";

struct record {
    const char *title;      /* "sprofile record" */
    struct outputs outputs; /* if empty, add_default adds one */
    bool is_quiet, has_progress, full_names, has_wall;
    struct settings settings;
    struct launch launch;
    struct spools spools;
    struct progress progress;
};

/* Set the variables for the program's processes that depend on the directory of
 * the spools. Returns 0, or -1 after a message. */
static int
set_library(struct record *record)
{
    char output[PATH_MAX + 32];
    snprintf(output, sizeof(output), "%s/%%p.%%t.txt",
             record->spools.directory);
    /* In SPROF_OUTPUT, a comma separates names and '%' begins a placeholder. */
    if (strchr(record->spools.directory, ',') != NULL ||
        strchr(record->spools.directory, '%') != NULL) {
        fprintf(stderr, "%s: %s: expected a directory without ',' and '%%'\n",
                record->title, record->spools.directory);
        return -1;
    }
    settings_add(&record->settings, "SPROF_OUTPUT", output);
    settings_add(&record->settings, "SPROF_SYMBOLIZE", "off");
    settings_add(&record->settings, "SPROF_KEEP_SPOOL", "2");
    return 0;
}

/* launch_wait calls this twice a second. */
static void
show_progress(void *context)
{
    struct record *record = context;
    if (record->progress.is_wanted && spools_look(&record->spools) == 0)
        progress_show(&record->progress, &record->spools);
}

/* Add the default output: a spool. It keeps times and names, and every other
 * format can be made of it. Commas in the name are replaced, because they would
 * separate names. Pids are reused, so an existing file of that name is kept and
 * a number is added. Returns 0, or -1 after a message. */
static int
add_default(struct record *record)
{
    const char *command = record->launch.command[0];
    char name[NAME_MAX + 1], number[16] = "", *comma;
    for (unsigned i = 1; i == 1 || access(name, F_OK) == 0; i++) {
        if (i > 1)
            snprintf(number, sizeof(number), ".%u", i);
        snprintf(name, sizeof(name), "sprof.%.200s.%ld%s.sprof",
                 path_name(command), (long)record->launch.pid, number);
        while ((comma = strchr(name, ',')) != NULL)
            *comma = '_';
    }
    return outputs_add(&record->outputs, record->title, name);
}

/* Load all spools as one profile. Returns NULL if they contain nothing. */
static struct profile *
load_spools(const struct spools *spools, const struct outputs *outputs,
            bool full_names)
{
    char **paths = calloc(spools->count + 1, sizeof(*paths));
    int count = 0;
    if (paths == NULL)
        return NULL;
    for (size_t i = 0; i < spools->count; i++)
        if (!spools->all[i].is_empty)
            paths[count++] = spools->all[i].path;
    struct profile *profile =
        inputs_load(paths, count, outputs_need_events(outputs), full_names);
    free(paths);
    return profile;
}

/* Every process with the library in it leaves a spool, however short it was,
 * unless it is killed at once. */
static void
say_nothing_seen(const struct record *record)
{
    fprintf(stderr,
            "%s: no profile is written: no process of %s left a spool (static "
            "program, another environment or root directory, SPROF_ONLY, no "
            "room for the library, or killed at once)\n",
            record->title, record->launch.command[0]);
}

/* Print how COMMAND ended, unless it was with success. */
static void
say_end(const struct launch *launch)
{
    if (WIFSIGNALED(launch->status))
        fprintf(stderr, "end   killed by signal %d (%s)\n",
                WTERMSIG(launch->status), strsignal(WTERMSIG(launch->status)));
    else if (WEXITSTATUS(launch->status) != 0)
        fprintf(stderr, "end   exit status %d\n", WEXITSTATUS(launch->status));
}

/* Print what was written, how good it is, and what can be done with it. */
static void
say_summary(const struct record *record, struct profile *profile)
{
    char *names = outputs_names(&record->outputs);
    if (names == NULL || record->is_quiet || record->outputs.count == 0) {
        free(names);
        return;
    }
    (void)run_summary_write(stderr, profile, names);
    say_end(&record->launch);
    outputs_say_next(&record->outputs, stderr);
    free(names);
}

/* Read the spools and write the profile. It may be of processes that were too
 * short for a sample. Returns 0, or -1 after a message; the spools are then
 * still needed. */
static int
write_profile(struct record *record)
{
    struct profile *profile =
        load_spools(&record->spools, &record->outputs, record->full_names);
    if (profile == NULL)
        return -1;
    totals_note_tree(profile, record->launch.cpu);
    int result = outputs_write(&record->outputs, profile, record->has_wall);
    say_summary(record, profile);
    profile_free(profile);
    return result;
}

/* Print how many processes still live. A daemon outlives the command that
 * started it, so waiting for it could take for ever. */
static void
say_who_lives(const struct record *record)
{
    unsigned living = spools_living(&record->spools);
    if (living > 0)
        fprintf(stderr,
                "%s: %u of its processes still run; the profile has what they "
                "did until now\n",
                record->title, living);
}

/* Make the profile from the spools. Returns 0, or -1 after a message; the
 * spools are then still needed. */
static int
collect_profile(struct record *record)
{
    if (spools_detach(&record->spools) != 0) {
        fprintf(stderr, "%s: %s: %s\n", record->title, record->spools.directory,
                strerror(errno));
        return -1;
    }
    if (spools_are_empty(&record->spools))
        return 0;
    if (record->outputs.count == 0 && add_default(record) != 0)
        return -1;
    say_who_lives(record);
    return write_profile(record);
}

/* Make the profile after the program's end. Returns 0, or -1 after a message if
 * there is no profile. */
static int
finish_recording(struct record *record)
{
    bool is_kept = collect_profile(record) != 0;
    bool is_nothing = !is_kept && spools_are_empty(&record->spools);
    if (is_kept)
        fprintf(stderr, "%s: the spools are kept in %s\n", record->title,
                record->spools.directory);
    if (is_nothing)
        say_nothing_seen(record);
    spools_end(&record->spools, is_kept);
    return is_kept || is_nothing ? -1 : 0;
}

/* Run the program and make the profile. All checks are made before the program
 * starts. Returns the program's status, or the exit status of a failure. */
static int
run_recording(struct record *record)
{
    const char *command = record->launch.command[0];
    const char *beside =
        record->outputs.count > 0 ? record->outputs.paths[0] : "./sprof";
    char library[PATH_MAX], error[PATH_MAX + 256];
    if (launch_find_library(library, sizeof(library), error, sizeof(error)) !=
            0 ||
        program_check(command, error, sizeof(error)) != 0) {
        fprintf(stderr, "%s: %s\n", record->title, error);
        return STATUS_FAILED;
    }
    if (!outputs_have_place(&record->outputs, record->title))
        return STATUS_FAILED;
    if (spools_begin(&record->spools, beside) != 0) {
        fprintf(stderr, "%s: cannot write beside %s: %s\n", record->title,
                beside, strerror(errno));
        return STATUS_FAILED;
    }
    if (set_library(record) != 0) {
        spools_end(&record->spools, false);
        return STATUS_FAILED;
    }
    record->launch.library = library;
    record->launch.settings = record->settings.values;
    int problem = launch_start(&record->launch);
    if (problem != 0) {
        fprintf(stderr, "%s: %s: %s\n", record->title, command,
                strerror(problem));
        spools_end(&record->spools, false);
        return problem == ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_RUN;
    }
    progress_begin(&record->progress, record->launch.pid, record->has_progress);
    int status = launch_wait(&record->launch, show_progress, record);
    progress_hide(&record->progress);
    if (finish_recording(record) != 0 && status == STATUS_DONE)
        status = STATUS_FAILED;
    return status;
}

/* Take OPTION, which stands for VARIABLE. Returns as take_option. */
static int
take_setting(struct record *record, const char *variable, const char *option)
{
    return settings_take(&record->settings, variable, optarg, record->title,
                         option)
               ? -1
               : STATUS_USAGE;
}

/* Refuse an option of perf, and name what replaces it. Returns the exit status.
 */
static int
refuse_perf_option(const struct record *record, int option)
{
    const char *words = "";
    switch (option) {
    case 'p':
        words = "-p: a process that runs cannot be attached to; start it with "
                "`sprofile record -- COMMAND` or with LD_PRELOAD. One that was "
                "started so is asked by `sprofile top`, stacks and dump";
        break;
    case 'a':
        words = "-a: the machine as a whole is not profiled, only COMMAND and "
                "the processes that it starts";
        break;
    case 'g':
        words = "-g is not needed: every sample has its whole stack";
        break;
    case 'e':
        words = "-e: there are no hardware events; CPU time and wall time are "
                "recorded together";
        break;
    }
    return command_usage(record->title, "%s", words);
}

/* Take an option. Returns -1, or the exit status if the option is wrong. */
static int
take_option(struct record *record, int option)
{
    switch (option) {
    case 'o':
        return outputs_add(&record->outputs, record->title, optarg) != 0
                   ? STATUS_USAGE
                   : -1;
    case 'F':
        return take_setting(record, "SPROF_FREQUENCY", "-F");
    case 'm':
        return take_setting(record, "SPROF_MODE", "-m");
    case 'd':
        return take_setting(record, "SPROF_DURATION", "-d");
    case 'q':
        record->is_quiet = true;
        record->has_progress = false;
        return -1;
    case 'N':
        record->full_names = true;
        return -1;
    case 'W':
        record->has_wall = true;
        return -1;
    case 'P':
        record->has_progress = false;
        return -1;
    case 'h':
        fputs(help, stdout);
        return STATUS_DONE;
    case 'p':
    case 'a':
    case 'g':
    case 'e':
        return refuse_perf_option(record, option);
    default:
        return command_usage(record->title, NULL);
    }
}

/* Options end at the command, which has its own options. */
int
cmd_record(int argc, char **argv)
{
    static const struct option options[] = {
        {"output", required_argument, NULL, 'o'},
        {"frequency", required_argument, NULL, 'F'},
        {"mode", required_argument, NULL, 'm'},
        {"duration", required_argument, NULL, 'd'},
        {"quiet", no_argument, NULL, 'q'},
        {"full-names", no_argument, NULL, 'N'},
        {"wall", no_argument, NULL, 'W'},
        {"no-progress", no_argument, NULL, 'P'},
        {"help", no_argument, NULL, 'h'},
        /* Options of perf, which are refused. */
        {"pid", required_argument, NULL, 'p'},
        {"all-cpus", no_argument, NULL, 'a'},
        {"call-graph", required_argument, NULL, 'g'},
        {"event", required_argument, NULL, 'e'},
        {NULL, 0, NULL, 0},
    };
    struct record record = {.title = argv[0], .has_progress = true};
    int option, status = -1;
    while (status < 0 && (option = getopt_long(argc, argv, "+o:F:m:d:qhp:age:",
                                               options, NULL)) != -1)
        status = take_option(&record, option);
    if (status < 0 && optind == argc)
        status = command_usage(argv[0], "expected a COMMAND");
    if (status < 0 && !settings_environment_is_right(argv[0]))
        status = STATUS_FAILED;
    if (status < 0) {
        record.launch.command = argv + optind;
        status = run_recording(&record);
    }
    settings_release(&record.settings);
    outputs_release(&record.outputs);
    return status;
}
