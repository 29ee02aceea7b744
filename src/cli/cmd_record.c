/* SPDX-License-Identifier: MIT */
/*
 * cmd_record.c -- `sprofile record`: runs a program with the library preloaded
 * and makes one profile of all its processes. They write their spools to a
 * directory beside the output. When the program has ended, the spools are read,
 * summed up and removed. If anything fails after the program's end, the spools
 * stay.
 */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/options.h"
#include "base/path.h"
#include "cli/record/beside.h"
#include "cli/record/jit.h"
#include "cli/record/launch.h"
#include "cli/record/spools.h"
#include "cli/record/survivors.h"
#include "cli/serve/listen.h"
#include "model/profile.h"
#include "read/load.h"
#include "show/text_report.h"
#include "arguments.h"
#include "inputs.h"
#include "outputs.h"
#include "screen.h"

/* The exit statuses of a shell for a program that cannot be run, or is not
 * there. */
enum { STATUS_NOT_RUN = 126, STATUS_NOT_FOUND = 127 };

extern char **environ;

struct record {
    struct outputs outputs; /* if empty, add_default adds one */
    bool is_quiet, has_progress, full_names, has_wall, has_jit;
    /* NULL: as in the environment */
    const char *frequency, *mode, *duration, *cost;
    char elsewhere[PATH_MAX]; /* the directory of the default output, and '/';
                               * "": the present one */
    struct launch launch;
    struct spools spools;
    struct spools_line line;
    struct beside beside;
};

/* Set the variables by which the recording configures the library. Returns
 * STATUS_DONE, or STATUS_FAILED after a message. */
static int
set_library(struct record *record)
{
    const char *directory = record->spools.directory;
    char output[PATH_MAX + 32];
    /* The user of `record` wants the asked rate: its cost is not bounded. */
    const char *cost = record->cost;
    if (cost == NULL && getenv("SPROF_COST") == NULL)
        cost = "off";
    snprintf(output, sizeof(output), "%s/%%p.%%t.txt", directory);
    const char *const settings[][2] = {
        {"SPROF_OUTPUT", output},     {"SPROF_SYMBOLIZE", "off"},
        {"SPROF_KEEP_SPOOL", "2"},    {"SPROF_FREQUENCY", record->frequency},
        {"SPROF_MODE", record->mode}, {"SPROF_DURATION", record->duration},
        {"SPROF_COST", cost},
    };
    /* In SPROF_OUTPUT, a comma separates names and '%' begins a placeholder. */
    if (strpbrk(directory, ",%") != NULL)
        return command_complain("%s: expected a directory without ',' and '%%'",
                                directory);
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
        if (settings[i][1] != NULL &&
            launch_set(settings[i][0], settings[i][1]) != 0)
            return command_complain("%s", strerror(errno));
    if (record->has_jit && jit_set(record->is_quiet ? NULL : stderr) != 0)
        return command_complain("%s", strerror(errno));
    return STATUS_DONE;
}

/* launch_wait calls this twice a second. */
static void
show_progress(void *context)
{
    struct record *record = context;
    if (record->line.is_wanted && spools_look(&record->spools) == 0)
        spools_show_line(&record->line, &record->spools);
}

/* Add the default output: a spool. It keeps times and names, and every other
 * format can be made of it. Commas in the name are replaced, because they would
 * separate names. Pids are reused, so an existing file of that name is kept and
 * a number is added. Returns 0, or -1 after a message. */
static int
add_default(struct record *record)
{
    const char *command = record->launch.command[0];
    char name[PATH_MAX + NAME_MAX + 1], number[16] = "", *comma;
    size_t length = strlen(record->elsewhere);
    for (unsigned i = 1; i == 1 || access(name, F_OK) == 0; i++) {
        if (i > 1)
            snprintf(number, sizeof(number), ".%u", i);
        snprintf(name, sizeof(name), "%ssprof.%.200s.%ld%s.sprof",
                 record->elsewhere, path_name(command),
                 (long)record->launch.pid, number);
        while ((comma = strchr(name + length, ',')) != NULL)
            *comma = '_';
    }
    return outputs_add(&record->outputs, name) == STATUS_DONE ? 0 : -1;
}

/* Load all spools as one profile. Returns NULL if they contain nothing. */
static struct profile *
load_spools(const struct spools *spools, const struct outputs *outputs,
            bool full_names)
{
    const struct filter_options all = {.full_names = full_names};
    char **paths = calloc(spools->count + 1, sizeof(*paths));
    int count = 0;
    if (paths == NULL)
        return NULL;
    for (size_t i = 0; i < spools->count; i++)
        if (!spools->all[i].is_empty)
            paths[count++] = spools->all[i].path;
    struct profile *profile =
        inputs_load(&all, paths, count, outputs_need_events(outputs));
    free(paths);
    return profile;
}

/* Print what was written, how good it is, and what can be done with it. */
static void
say_summary(const struct record *record, struct profile *profile)
{
    char *names = outputs_names(&record->outputs);
    int end = record->launch.status;
    if (names == NULL || record->is_quiet || record->outputs.count == 0) {
        free(names);
        return;
    }
    bool has_colour = screen_has_colour(SCREEN_AUTO, STDERR_FILENO);
    (void)text_report_summary(stderr, profile, names, record->has_jit,
                              has_colour ? &paint_terminal : &paint_none);
    if (WIFSIGNALED(end))
        fprintf(stderr, "end   killed by signal %d (%s)\n", WTERMSIG(end),
                strsignal(WTERMSIG(end)));
    else if (WEXITSTATUS(end) != 0)
        fprintf(stderr, "end   exit status %d\n", WEXITSTATUS(end));
    if (record->has_jit)
        jit_say_files(stderr, profile);
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
    load_note_tree(profile, record->launch.cpu);
    int result = outputs_write(&record->outputs, profile, record->has_wall);
    say_summary(record, profile);
    profile_free(profile);
    return result;
}

/* Make the profile from the spools. A daemon outlives the command that started
 * it, so waiting for it could take for ever. Returns 0, or -1 after a message;
 * the spools are then still needed. */
static int
collect_profile(struct record *record)
{
    struct survivors survivors;
    survivors_find(&survivors, record->spools.directory);
    int error = spools_detach(&record->spools) != 0 ? errno : 0;
    survivors_say(&survivors, &record->spools);
    survivors_release(&survivors);
    if (error != 0) {
        command_complain("%s: %s", record->spools.directory, strerror(error));
        return -1;
    }
    if (spools_are_empty(&record->spools))
        return 0;
    if (record->outputs.count == 0 && add_default(record) != 0)
        return -1;
    return write_profile(record);
}

/* Make the profile after the program's end. Returns 0, or -1 after a message if
 * no profile was made. */
static int
finish_recording(struct record *record)
{
    bool is_kept = collect_profile(record) != 0;
    bool is_nothing = !is_kept && spools_are_empty(&record->spools);
    if (is_kept)
        command_complain("the spools are kept in %s", record->spools.directory);
    /* Every process with the library in it leaves a spool, however short it
     * was, unless it is killed at once. */
    const char *only = record->launch.only_children;
    if (is_nothing && only[0] != '\0')
        command_complain("no profile is written: %s, and no program that it "
                         "started left a spool; link it dynamically, with "
                         "glibc",
                         only);
    else if (is_nothing)
        command_complain("no profile is written: no process of %s left a spool "
                         "(static program, another environment or root "
                         "directory, SPROF_ONLY, no room for the library, or "
                         "killed at once)",
                         record->launch.command[0]);
    spools_end(&record->spools, is_kept);
    return is_kept || is_nothing ? -1 : 0;
}

/* Find the library and check that the program can be run with it. Returns
 * STATUS_DONE, or STATUS_FAILED after a message. */
static int
check_program(struct record *record, char *library, size_t size)
{
    char error[PATH_MAX + 256];
    if (launch_find_library(library, size, error, sizeof(error)) != 0 ||
        launch_check(&record->launch, error, sizeof(error)) != 0)
        return command_complain("%s", error);
    if (record->launch.only_children[0] != '\0' && !record->is_quiet)
        fprintf(stderr,
                "sprof: %s: only programs that it starts are "
                "recorded\n",
                record->launch.only_children);
    return outputs_have_place(&record->outputs) ? STATUS_DONE : STATUS_FAILED;
}

/* Start the program, wait for its end and make the profile. Returns the
 * program's status, or the exit status of a failure. */
static int
run_program(struct record *record)
{
    int problem = launch_start(&record->launch);
    if (problem != 0) {
        beside_end(&record->beside);
        command_complain("%s: %s", record->launch.command[0],
                         strerror(problem));
        spools_end(&record->spools, false);
        return problem == ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_RUN;
    }
    spools_begin_line(&record->line, record->launch.pid,
                      record->has_progress && !record->is_quiet);
    int status = launch_wait(&record->launch, show_progress, record);
    spools_hide_line(&record->line);
    beside_end(&record->beside);
    if (finish_recording(record) != 0 && status == STATUS_DONE)
        status = STATUS_FAILED;
    return status;
}

/* The default output is in the present directory. If that cannot be written, it
 * is in the one for temporary files (environ(7)), and a line says so. Returns
 * the path that it begins with, or NULL for the present directory. */
static const char *
choose_directory(struct record *record)
{
    const char *temporary = getenv("TMPDIR");
    if (access(".", W_OK | X_OK) == 0)
        return NULL;
    int error = errno;
    if (temporary == NULL || temporary[0] != '/')
        temporary = "/tmp";
    snprintf(record->elsewhere, sizeof(record->elsewhere), "%s/", temporary);
    fprintf(stderr,
            "sprof: the present directory cannot be written (%s): the profile "
            "will be in %s\n",
            strerror(error), temporary);
    return record->elsewhere;
}

/* Make all checks, then record. A wrong variable is reported once, before the
 * program runs, and not by each of its processes. */
static int
run_record(void *values, char *const *command, int count)
{
    struct record *record = values;
    struct options unused;
    char library[PATH_MAX], error[512];
    (void)count;
    record->launch.command = command;
    record->launch.library = library;
    if (options_parse(&unused, environ, error, sizeof(error)) != 0)
        return command_complain("%s", error);
    if (check_program(record, library, sizeof(library)) != STATUS_DONE)
        return STATUS_FAILED;
    const char *beside =
        record->outputs.count > 0 ? record->outputs.paths[0] : "./sprof";
    if (record->outputs.count == 0 && choose_directory(record) != NULL)
        beside = record->elsewhere;
    if (spools_begin(&record->spools, beside) != 0)
        return command_complain("cannot write beside %s: %s", beside,
                                strerror(errno));
    int status = beside_begin(&record->beside, record->spools.directory,
                              record->is_quiet);
    if (status == STATUS_DONE && set_library(record) != STATUS_DONE) {
        beside_end(&record->beside);
        status = STATUS_FAILED;
    }
    if (status == STATUS_DONE)
        return run_program(record);
    spools_end(&record->spools, false);
    return status;
}

/* Take --serve, whose VALUE may be missing. */
static int
take_serve(const struct command_option *option, void *field, const char *value)
{
    struct beside *beside = field;
    struct listener unused;
    if (value != NULL && listen_parse(&unused, value) != 0)
        return arguments_refuse(option, value);
    beside->is_serving = true;
    beside->address = value;
    return STATUS_DONE;
}

static int
take_output(const struct command_option *option, void *outputs,
            const char *list)
{
    (void)option;
    return outputs_add(outputs, list);
}

/* Take an option that stands for the variable option->words. The library's own
 * parser checks the value, so the two cannot disagree. It complains about
 * VARIABLE=value. The user of -F knows the option only, so the text before the
 * value is cut off. */
static int
take_setting(const struct command_option *option, void *field,
             const char *value)
{
    struct options unused;
    char error[512], *setting;
    int status = arguments_text(option, field, value);
    if (asprintf(&setting, "%s=%s", option->words, value) < 0)
        return command_complain("%s", strerror(errno));
    char *alone[] = {setting, NULL};
    if (options_parse(&unused, alone, error, sizeof(error)) != 0)
        status = option->letter != 0 ? command_usage("-%c %s", option->letter,
                                                     strchr(error, '=') + 1)
                                     : command_usage("--%s %s", option->name,
                                                     strchr(error, '=') + 1);
    free(setting);
    return status;
}

/* Refuse an option of perf, and name what replaces it. */
static int
refuse_perf_option(const struct command_option *option, void *values,
                   const char *unused)
{
    (void)values;
    (void)unused;
    return command_usage("%s", option->words);
}

static void
release_record(void *values)
{
    outputs_release(&((struct record *)values)->outputs);
}

#define FIELD(member) .field = offsetof(struct record, member)

/* Two rows for one option of perf: -g and --call-graph take other arguments. */
static const char call_graph[] =
    "-g is not needed: every sample has its whole stack";

static const struct command_option options[] = {
    {"output", "FILE",
     "the profile; its ending picks the format\n"
     "(`sprofile convert --help`). Repeated, or with\n"
     "commas between names, it writes several. By\n"
     "default sprof.COMMAND.PID.sprof, which has all",
     take_output, FIELD(outputs), .letter = 'o'},
    {"frequency", "HZ",
     "sample points a second for each thread, 1000 by\n"
     "default",
     take_setting, FIELD(frequency), "SPROF_FREQUENCY", .letter = 'F'},
    {"cost", "PERCENT",
     "what sampling may cost, in percent of the CPU time\n"
     "of the threads that run; the rate gives way",
     take_setting, FIELD(cost), "SPROF_COST"},
    {"mode", "MODE",
     "wall: every thread, running or waiting (the\n"
     "default); cpu: only threads that run",
     take_setting, FIELD(mode), "SPROF_MODE", .letter = 'm'},
    {"duration", "S", "seconds of sampling; COMMAND goes on after them",
     take_setting, FIELD(duration), "SPROF_DURATION", .letter = 'd'},
    {"jit", NULL,
     "ask Node, Java and .NET for the names of the code\n"
     "that they generate, by variables of the environment",
     arguments_flag, FIELD(has_jit)},
    {"serve", "[=ADDR]",
     "run `sprofile serve` beside COMMAND for its\n"
     "processes; at 127.0.0.1:6060 by default",
     take_serve, FIELD(beside),
     "HOST:PORT with an address or localhost, or unix:PATH"},
    {"push", "OPTIONS",
     "run `sprofile push` with these options beside\n"
     "COMMAND for its processes; or a collector's URL",
     arguments_text, FIELD(beside.push)},
    {"full-names", NULL,
     "functions with parameters, return types and all\n"
     "template arguments",
     arguments_flag, FIELD(full_names)},
    {"wall", NULL,
     "wall time in formats that have one value for each\n"
     "stack (folded, speedscope), not CPU time",
     arguments_flag, FIELD(has_wall)},
    {"no-progress", NULL, "no line on the terminal while COMMAND runs",
     arguments_clear, FIELD(has_progress)},
    {"quiet", NULL, "that, and no summary", arguments_flag, FIELD(is_quiet),
     .letter = 'q'},
    {"pid", "PID", "", refuse_perf_option, .letter = 'p',
     .words = "-p: a process that runs cannot be attached to; start it with "
              "`sprofile record -- COMMAND` or with LD_PRELOAD. One that was "
              "started so is asked by `sprofile top`, stacks and dump"},
    {"all-cpus", NULL, "", refuse_perf_option, .letter = 'a',
     .words = "-a: the machine as a whole is not profiled, only COMMAND and "
              "the processes that it starts"},
    {NULL, NULL, "", refuse_perf_option, .words = call_graph, .letter = 'g'},
    {"call-graph", "WAY", "", refuse_perf_option, .words = call_graph},
    {"event", "EVENT", "", refuse_perf_option, .letter = 'e',
     .words = "-e: there are no hardware events; CPU time and wall time are "
              "recorded together"},
    {0},
};

const struct command cmd_record = {
    .name = "record",
    .summary = "run a program and write one profile of all its processes",
    .usage = "[OPTION]... [--] COMMAND [ARGUMENT]...",
    .about =
        "Runs COMMAND and writes one profile of all its processes when it has\n"
        "ended, also of those that were killed. The exit status is COMMAND's: "
        "128\n"
        "+ n if signal n killed it, 127 if it was not found, 126 if it could "
        "not\n"
        "be run; or 1 if it would be 0 and there is no profile.\n",
    .options = options,
    .has_letters = true,
    .ends_at_operand = true,
    .notes =
        "The variables SPROF_... hold as with LD_PRELOAD alone, but for\n"
        "SPROF_OUTPUT, SPROF_SYMBOLIZE, and those that an option stands for.\n",
    .least = 1,
    .operands = "a COMMAND",
    .values = &(const struct record){.has_progress = true},
    .size = sizeof(struct record),
    .run = run_record,
    .release = release_record,
};
