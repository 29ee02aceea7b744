/* SPDX-License-Identifier: MIT */
/*
 * run_summary.c -- see run_summary.h. For a profile of ./app it prints exactly
 *
 *   sprof: wrote app.pb.gz: 12,345 samples of 8 threads in 3 processes, 12.4 s
 *     42.1 %  hash_block (app)
 *      9.9 %  memcpy (libc.so.6)
 *   CPU   9.821 s; wall time 61.020 s
 *   unseen 0.201 s CPU, 2.0 % of 10.043 s: after the last look at ...
 *   rate  9790 samples in 9.821 s of CPU: 997 a CPU second of 1,000 asked
 *   lost  none of 9790 asked
 *   cost  sampler 0.021 s CPU, 0.2 % of 12.400 s; ...
 *   names 28.0 % of CPU time has frames without names in generated code: ...
 */
#include <stdbool.h>
#include <string.h>

#include "base/path.h"
#include "base/text.h"
#include "model/quality.h"
#include "util/number.h"
#include "view/nameless.h"
#include "view/table.h"
#include "run_summary.h"

/* FUNCTIONS: most functions that are printed. NAMELESS_PERCENT: least share of
 * the CPU time, in percent, at which code without names is reported. */
enum { FUNCTIONS = 5, NAMELESS_PERCENT = 5 };

/* Add COUNT and NAME, in the plural if need be: "8 threads". */
static void
add_count(struct text *text, uint64_t count, const char *name)
{
    text_add_grouped(text, count);
    text_add(text, " ");
    text_add(text, name);
    text_add(text, number_plural(count));
}

static void
write_size(FILE *stream, const struct profile *profile, const char *path)
{
    char line[256];
    struct text text;
    text_begin(&text, line, sizeof(line));
    add_count(&text, profile->totals[VALUE_SAMPLES], "sample");
    text_add(&text, " of ");
    add_count(&text, profile_busy_threads(profile), "thread");
    if (profile->process_count > 1) {
        text_add(&text, " in ");
        text_add_grouped(&text, profile->process_count);
        text_add(&text, " processes");
    }
    fprintf(stream, "sprof: wrote %s: %s, %.1f s\n", path, line,
            number_seconds(profile->duration));
}

static int
write_functions(FILE *stream, struct profile *profile)
{
    enum value value = profile->totals[VALUE_CPU] > 0 ? VALUE_CPU : VALUE_WALL;
    struct table table;
    if (table_build(&table, profile, value) != 0)
        return -1;
    for (uint32_t i = 0; i < table.count && i < FUNCTIONS; i++) {
        const struct table_row *row = &table.rows[i];
        if (row->flat[value] == 0)
            break;
        fprintf(stream, " %5.1f %%  %s%s%s%s\n",
                number_percent(row->flat[value], profile->totals[value]),
                row->function, row->module[0] != '\0' ? " (" : "", row->module,
                row->module[0] != '\0' ? ")" : "");
    }
    table_release(&table);
    return 0;
}

/* How to make a runtime write the names of its code. docs/names.md describes
 * all runtimes. */
struct runtime {
    const char *name;    /* of its executable, without a version */
    const char *command; /* what to run */
    const char *option;  /* of COMMAND; tells that it was run so */
};

static const struct runtime runtimes[] = {
    {"node",
     "node --perf-basic-prof --interpreted-frames-native-stack "
     "--no-short-builtin-calls",
     "--no-short-builtin-calls"},
    {"java",
     "java -XX:+PreserveFramePointer -XX:+UnlockDiagnosticVMOptions "
     "-XX:+DumpPerfMapAtExit",
     "-XX:+DumpPerfMapAtExit"},
    {"dotnet", "DOTNET_PerfMapEnabled=1 dotnet", NULL},
};

static bool
is_run_by(const struct profile_process *process, const struct runtime *runtime)
{
    const char *name = path_name(process->exe);
    size_t length = strlen(runtime->name);
    return strncmp(name, runtime->name, length) == 0 &&
           strspn(name + length, ".-0123456789js") == strlen(name + length);
}

/* The command line with which the first known runtime of PROFILE writes names
 * for the code that it generates. NULL if no process runs a known runtime, or
 * if it was already run so. */
static const char *
naming_command(const struct profile *profile)
{
    for (uint32_t i = 0; i < profile->process_count; i++)
        for (size_t k = 0; k < sizeof(runtimes) / sizeof(runtimes[0]); k++) {
            const struct profile_process *process = &profile->processes[i];
            const char *option = runtimes[k].option;
            if (is_run_by(process, &runtimes[k]))
                return option != NULL &&
                               strstr(process->command, option) != NULL
                           ? NULL
                           : runtimes[k].command;
        }
    return NULL;
}

int
run_summary_write_nameless(FILE *stream, struct profile *profile)
{
    struct nameless nameless;
    double percent = 0;
    const char *what = "", *command = NULL;
    if (nameless_build(&nameless, profile) != 0)
        return -1;
    if (nameless.count > 0) {
        const struct nameless_row *row = &nameless.rows[0];
        percent =
            number_percent(row->values[VALUE_CPU], profile->totals[VALUE_CPU]);
        what = row->module == 0 ? "generated code"
                                : profile->modules[row->module].path;
        command = row->module == 0 ? naming_command(profile) : NULL;
    }
    if (percent >= NAMELESS_PERCENT) {
        fprintf(stream,
                "names %.1f %% of CPU time has frames without names in %s: ",
                percent, what);
        if (command != NULL)
            fprintf(stream, "run `%s` to have them\n", command);
        else
            fputs("sprofile info tells how to have them\n", stream);
    }
    nameless_release(&nameless);
    return 0;
}

int
run_summary_write(FILE *stream, struct profile *profile, const char *path)
{
    write_size(stream, profile, path);
    if (write_functions(stream, profile) != 0)
        return -1;
    fprintf(stream, "CPU   %.3f s; wall time %.3f s\n",
            number_seconds(profile->totals[VALUE_CPU]),
            number_seconds(profile->totals[VALUE_WALL]));
    char text[512];
    if (quality_unseen(profile, text, sizeof(text))[0] != '\0')
        fprintf(stream, "unseen %s\n", text);
    if (quality_rate(profile, text, sizeof(text))[0] != '\0')
        fprintf(stream, "rate  %s\n", text);
    fprintf(stream, "lost  %s\n", quality_losses(profile, text, sizeof(text)));
    fprintf(stream, "cost  %s\n", quality_cost(profile, text, sizeof(text)));
    return profile->totals[VALUE_CPU] > 0
               ? run_summary_write_nameless(stream, profile)
               : 0;
}
