/* SPDX-License-Identifier: MIT */
/*
 * text_report.c -- prints a profile. From three stacks of ./app, sampled
 *
 *   main -> work        3 times, 3 ms of CPU, 3 ms of wall time
 *   main -> work        2 times, 2 ms, 2 ms
 *   main -> read        5 times, 0 ms, 5 ms
 *
 * it makes exactly (the head is shortened)
 *
 *   command  ./app
 *   ...
 *    cpu flat      %    ±   cpu cum      %  wall flat   wall cum  function
 *       0.005  100.0 43.5     0.005  100.0      0.005      0.005  work (app)
 *       0.000    0.0          0.005  100.0      0.000      0.010  main (app)
 *       0.000    0.0          0.000    0.0      0.005      0.005  read (libc)
 *
 * Times are in seconds. Percentages are of all CPU time; if the table is sorted
 * by wall time, they are of all wall time.
 *
 * The brief head of a profile without a filter is
 *
 *   command  ./app, 2.466 s from 2026-11-21 18:19:17 UTC
 *   samples  675 of 2 threads, 3424 looks at waits: 0.700 s CPU, 4.894 s wall
 *   rate     985 a CPU second of 1,000 asked
 *   lost     none of 675 asked; cut none of 675 stacks; cost 5.4 % CPU
 *
 * With a filter the second and third lines are
 *
 *   filter   --thread a: 0.441 of 0.700 s CPU, 2.447 of 4.894 s wall time
 *   samples  434 of 1 thread, 1616 looks at waits; 984 a CPU second
 *
 * If the program has files of Python or PHP of its own, their lines follow:
 *
 *   python   98.2 % of CPU time in the program's own files and what they call
 *     60.1 % ±  2.1  job.summarize job.py:13
 *
 * Each stack counts for its innermost own line.
 *
 * Unseen CPU time comes after the cost, if it is known. Lost, cut, cost and
 * unseen are of the whole run.
 *
 * The summary of a recording of ./app is
 *
 *   sprof: wrote app.pb.gz: 9,790 samples of 8 threads in 3 processes, 31,022
 *   looks at waits, 12.4 s (all in one line)
 *     42.1 % ±  1.0  hash_block (app)
 *      9.9 % ±  0.6  memcpy (libc.so.6)
 *   CPU   9.821 s; wall time 61.020 s
 *   unseen 0.201 s CPU, 2.0 % of 10.043 s: after the last look at ...
 *   rate  9790 samples in 9.821 s of CPU: 997 a CPU second of 1,000 asked
 *   lost  none of 9790 asked
 *   cost  sampler 0.021 s CPU, 0.2 % of 12.400 s; ...
 *   names 28.0 % of CPU time has frames without names in generated code: ...
 */
#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "base/path.h"
#include "base/text.h"
#include "model/naming.h"
#include "model/quality.h"
#include "model/spending.h"
#include "util/number.h"
#include "view/confidence.h"
#include "view/nameless.h"
#include "view/own_lines.h"
#include "truncate.h"
#include "text_report.h"

enum { FEW_PROCESSES = 3 };

/* Bytes of a line: a longer command is cut. Columns of the word in front of it.
 */
enum { LINE_SIZE = 1024, WORD_COLUMNS = 9 };

/* Bytes for "file.c:12": file names have up to 255 bytes. */
enum { PLACE_SIZE = 300 };

/* Columns that the line of samples should not exceed. */
enum { COLUMNS = 100 };

void
text_report_line(FILE *stream, unsigned columns, const char *word,
                 const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char text[LINE_SIZE];
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    fprintf(stream, "%-9s", word);
    truncate_text(stream, text,
                  columns > 20 ? columns - WORD_COLUMNS : columns);
    fputc('\n', stream);
}

/* Usually the profile has one process. For several, the other lines are sums
 * over them. */
static void
print_processes(FILE *stream, const struct profile *profile, uint32_t count,
                unsigned columns)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct profile_process *process = &profile->processes[i];
        text_report_line(stream, columns, "command", "%s", process->command);
        text_report_line(stream, columns, "process", "%u on %s, %s",
                         process->pid,
                         process->host[0] != '\0' ? process->host
                                                  : "unknown host",
                         process->exe);
    }
    if (count < profile->process_count)
        text_report_line(stream, columns, "", "and %u processes more",
                         profile->process_count - count);
}

/* Print the filter, and what it leaves. */
static void
print_filter(FILE *stream, const struct profile *profile, unsigned columns)
{
    const uint64_t *totals = profile->totals, *whole = profile->whole;
    if (profile->filter == NULL)
        return;
    text_report_line(stream, columns, "filter", "%s", profile->filter);
    text_report_line(
        stream, columns, "",
        "leaves %.1f %% of %.3f s CPU, %.1f %% of %.3f s wall time",
        number_percent(totals[VALUE_CPU], whole[VALUE_CPU]),
        number_seconds(whole[VALUE_CPU]),
        number_percent(totals[VALUE_WALL], whole[VALUE_WALL]),
        number_seconds(whole[VALUE_WALL]));
}

/* Print what a flight recorder kept of each process, if anything is missing. */
static void
print_kept(FILE *stream, const struct profile *profile, unsigned columns)
{
    for (uint32_t i = 0; i < profile->process_count; i++) {
        const struct profile_process *process = &profile->processes[i];
        if (process->begin == 0)
            continue;
        text_report_line(stream, columns, "kept",
                         "the last %.3f s of %.3f s (SPROF_KEEP is %.3f s)",
                         number_seconds(process->duration),
                         number_seconds(process->begin + process->duration),
                         number_seconds(process->keep));
    }
}

/* Most programs have few stacks with a guessed caller, or none. */
static void
print_guessed(FILE *stream, const struct profile *profile, unsigned columns)
{
    const uint64_t *totals = profile->totals;
    uint64_t values[VALUE_COUNT];
    if (quality_sum_guessed(profile, values) == 0 && values[VALUE_SAMPLES] > 0)
        text_report_line(
            stream, columns, "guessed",
            "%.1f %% of CPU time, %.1f %% of wall time: a caller was "
            "found by a search of the stack",
            number_percent(values[VALUE_CPU], totals[VALUE_CPU]),
            number_percent(values[VALUE_WALL], totals[VALUE_WALL]));
}

/* Print all but the processes. Lost, cut and cost are of the whole run. */
static void
print_rest(FILE *stream, const struct profile *profile, unsigned columns)
{
    const uint64_t *totals = profile->totals;
    char text[512];
    text_report_line(stream, columns, "time", "%s",
                     quality_time(profile, text, sizeof(text)));
    print_kept(stream, profile, columns);
    print_filter(stream, profile, columns);
    text_report_line(stream, columns, "samples", "%s",
                     quality_samples(profile, text, sizeof(text)));
    text_report_line(stream, columns, "totals", "%.3f s CPU, %.3f s wall time",
                     number_seconds(totals[VALUE_CPU]),
                     number_seconds(totals[VALUE_WALL]));
    if (quality_unseen(profile, text, sizeof(text))[0] != '\0')
        text_report_line(stream, columns, "unseen", "%s", text);
    if (quality_rate(profile, text, sizeof(text))[0] != '\0')
        text_report_line(stream, columns, "rate", "%s", text);
    if (spending_rates(profile, text, sizeof(text))[0] != '\0')
        text_report_line(stream, columns, "epochs", "%s", text);
    text_report_line(stream, columns, "lost", "%s",
                     quality_losses(profile, text, sizeof(text)));
    text_report_line(stream, columns, "cut", "%s",
                     quality_cuts(profile, text, sizeof(text)));
    print_guessed(stream, profile, columns);
    text_report_line(stream, columns, "cost", "%s",
                     quality_cost(profile, text, sizeof(text)));
    if (quality_sums(profile, text, sizeof(text))[0] != '\0')
        text_report_line(stream, columns, "WRONG", "%s", text);
    if (quality_asked(profile, text, sizeof(text))[0] != '\0')
        text_report_line(stream, columns, "note", "%s", text);
}

void
text_report_head(FILE *stream, const struct profile *profile, bool is_short,
                 unsigned columns)
{
    uint32_t count = profile->process_count;
    if (is_short && count > FEW_PROCESSES + 1)
        count = FEW_PROCESSES;
    print_processes(stream, profile, count, columns);
    print_rest(stream, profile, columns);
}

/* The file of a flight recorder has only the end of a run. */
static void
print_brief_command(FILE *stream, const struct profile *profile,
                    unsigned columns)
{
    const struct profile_process *process = profile->processes;
    char others[64] = "", kept[96] = "", time[128];
    quality_time(profile, time, sizeof(time));
    const char *when = strrchr(time, ',');
    if (profile->process_count > 1)
        snprintf(others, sizeof(others), " and %u process%s more",
                 profile->process_count - 1,
                 profile->process_count == 2 ? "" : "es");
    if (profile->process_count > 0 && process->begin != 0)
        snprintf(kept, sizeof(kept), ", the last %.3f s of %.3f s",
                 number_seconds(process->duration),
                 number_seconds(process->begin + process->duration));
    char line[LINE_SIZE];
    snprintf(line, sizeof(line), "%.600s%s%s, %.3f s from %.*s",
             profile->process_count > 0 ? process->command : "(no process)",
             others, kept, number_seconds(profile->duration),
             when != NULL ? (int)(when - time) : (int)strlen(time), time);
    text_report_line(stream, columns, "command", "%s", line);
}

/* With a filter, the samples and their rate are those of what it leaves. */
static void
print_brief_filter(FILE *stream, const struct profile *profile,
                   unsigned columns)
{
    const uint64_t *totals = profile->totals, *whole = profile->whole;
    char text[256], rate[64];
    quality_short_rate(profile, rate, sizeof(rate), 0);
    text_report_line(stream, columns, "filter",
                     "%.500s: %.3f of %.3f s CPU, %.3f of %.3f s wall time",
                     profile->filter, number_seconds(totals[VALUE_CPU]),
                     number_seconds(whole[VALUE_CPU]),
                     number_seconds(totals[VALUE_WALL]),
                     number_seconds(whole[VALUE_WALL]));
    text_report_line(stream, columns, "samples", "%s%s%s",
                     quality_samples(profile, text, sizeof(text)),
                     rate[0] != '\0' ? "; " : "", rate);
}

/* The rate has as many reasons as fit; `sprofile info` has all reasons. */
static void
print_brief_samples(FILE *stream, const struct profile *profile,
                    unsigned columns)
{
    const uint64_t *totals = profile->totals;
    char text[256];
    text_report_line(stream, columns, "samples", "%s: %.3f s CPU, %.3f s wall",
                     quality_samples(profile, text, sizeof(text)),
                     number_seconds(totals[VALUE_CPU]),
                     number_seconds(totals[VALUE_WALL]));
    quality_short_rate(profile, text, sizeof(text), COLUMNS - WORD_COLUMNS);
    if (text[0] != '\0')
        text_report_line(stream, columns, "rate", "%s", text);
}

static void
print_brief_quality(FILE *stream, const struct profile *profile,
                    unsigned columns)
{
    const struct profile_cost *cost = &profile->cost;
    char unseen[64] = "";
    if (cost->unseen_cpu > 0)
        snprintf(unseen, sizeof(unseen), "; unseen %.3f s CPU",
                 number_seconds(cost->unseen_cpu));
    char line[LINE_SIZE], losses[300], cuts[300];
    uint64_t of;
    bool is_wall;
    double percent = quality_cost_share(profile, &of, &is_wall);
    snprintf(line, sizeof(line), "%s; cut %s; cost %.1f %% %s%s",
             quality_losses(profile, losses, sizeof(losses)),
             quality_cuts(profile, cuts, sizeof(cuts)), percent,
             is_wall ? "of a CPU" : "CPU", unseen);
    text_report_line(stream, columns, "lost", "%s", line);
}

/* FUNCTIONS: limit of the functions that are printed. NAMELESS_PERCENT: least
 * share of the CPU time, in percent, at which code without names is
 * reported. */
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
    uint64_t looks, ran = quality_count(profile, &looks);
    add_count(&text, ran, "sample");
    text_add(&text, " of ");
    add_count(&text, profile_busy_threads(profile), "thread");
    if (profile->process_count > 1) {
        uint32_t sampled = quality_sampled_processes(profile);
        text_add(&text, " in ");
        if (sampled < profile->process_count) {
            text_add_grouped(&text, sampled);
            text_add(&text, " of ");
        }
        text_add_grouped(&text, profile->process_count);
        text_add(&text, " processes");
    }
    if (looks > 0) {
        text_add(&text, ", ");
        add_count(&text, looks, "look");
        text_add(&text, " at waits");
    }
    fprintf(stream, "sprof: wrote %s: %s, %.1f s\n", path, line,
            number_seconds(profile->duration));
}

/* CPU time, or wall time without CPU time. */
static enum value
usual_value(const struct profile *profile)
{
    return profile->totals[VALUE_CPU] > 0 ? VALUE_CPU : VALUE_WALL;
}

/* A list of rows with their shares of PROFILE's usual value. */
struct shares {
    FILE *stream;
    const struct paint *paint;
    enum value value;
    struct confidence whole;
};

static struct shares
shares_of(FILE *stream, const struct profile *profile,
          const struct paint *paint)
{
    enum value value = usual_value(profile);
    return (struct shares){stream, paint, value, confidence_of(profile, value)};
}

/* Print "  42.1 % ±  1.2  hash (app)", where PLACE is "app", with BEFORE and
 * AFTER around it. A row of few samples is dim. */
static void
print_share(const struct shares *shares, const struct table_row *row,
            const char *before, const char *place, const char *after)
{
    const struct confidence sum = {(double)row->flat[shares->value],
                                   row->flat_squares[shares->value]};
    bool is_low = confidence_is_low(&sum);
    bool has_place = place[0] != '\0';
    fprintf(shares->stream, "%s %5.1f %% ± %4.1f  %s%s%s%s%s\n",
            is_low ? shares->paint->faint : "",
            100 * sum.value / shares->whole.value,
            confidence_interval(&sum, &shares->whole), row->function,
            has_place ? before : "", place, has_place ? after : "",
            is_low ? shares->paint->end : "");
}

static int
write_functions(FILE *stream, struct profile *profile,
                const struct paint *paint)
{
    const struct shares shares = shares_of(stream, profile, paint);
    struct table table;
    if (table_build(&table, profile, TABLE_FUNCTION, NULL, shares.value) != 0)
        return -1;
    for (uint32_t i = 0; i < table.count && i < FUNCTIONS; i++) {
        if (table.rows[i].flat[shares.value] == 0)
            break;
        print_share(&shares, &table.rows[i], " (", table.rows[i].module, ")");
    }
    table_release(&table);
    return 0;
}

/* The language of the file of ROW, by its name. */
static const char *
language_of(const struct table_row *row)
{
    const char *dot = strrchr(row->file, '.');
    return dot != NULL && strcmp(dot, ".php") == 0 ? "php" : "python";
}

/* Print the lines of the program's own script files that cost the most, five at
 * most; nothing if it has none. Returns 0, or -1 with errno set. */
static int
write_own_lines(FILE *stream, struct profile *profile,
                const struct paint *paint)
{
    const struct shares shares = shares_of(stream, profile, paint);
    enum value value = shares.value;
    struct table table;
    uint64_t sum = 0;
    /* A pprof file does not show whether it has functions of Python. */
    if (!profile->has_scripts && !profile->is_from_pprof)
        return 0;
    if (own_lines_build(&table, profile, value) != 0)
        return -1;
    for (uint32_t i = 0; i < table.count; i++)
        sum += table.rows[i].flat[value];
    if (sum != 0)
        fprintf(stream,
                "%-8s %.1f %% of %s time in the program's own files and "
                "what they call\n",
                language_of(&table.rows[0]),
                number_percent(sum, profile->totals[value]),
                value == VALUE_CPU ? "CPU" : "wall");
    for (uint32_t i = 0; i < table.count && i < FUNCTIONS; i++) {
        const struct table_row *row = &table.rows[i];
        if (row->flat[value] == 0)
            break;
        char place[PLACE_SIZE];
        snprintf(place, sizeof(place), "%s:%u", path_name(row->file),
                 row->line);
        print_share(&shares, row, " ", place, "");
    }
    table_release(&table);
    return 0;
}

void
text_report_brief(FILE *stream, struct profile *profile, unsigned columns,
                  const struct paint *paint)
{
    print_brief_command(stream, profile, columns);
    if (profile->filter != NULL)
        print_brief_filter(stream, profile, columns);
    else
        print_brief_samples(stream, profile, columns);
    print_brief_quality(stream, profile, columns);
    (void)write_own_lines(stream, profile, paint);
}

/* The runtimes that `sprofile record --jit` has write the names of their code.
 * docs/names.md describes all runtimes. */
struct runtime {
    const char *name;   /* of its executable, without a version */
    const char *option; /* NULL, or the beginning of one with that option */
};

static const struct runtime runtimes[] = {
    {"node", "--perf-"},
    {"java", "-XX:+DumpPerfMapAtExit"},
    {"dotnet", NULL},
};

static bool
is_run_by(const struct profile_process *process, const struct runtime *runtime)
{
    const char *name = path_name(process->exe);
    size_t length = strlen(runtime->name);
    return strncmp(name, runtime->name, length) == 0 &&
           strspn(name + length, ".-0123456789js") == strlen(name + length);
}

/* Whether PROCESS is of a runtime that could write names, and did not: it has
 * left no perf map. */
static bool
can_be_told(const struct profile_process *process)
{
    for (size_t k = 0; k < sizeof(runtimes) / sizeof(runtimes[0]); k++)
        if (is_run_by(process, &runtimes[k]))
            return process->map_size == 0 &&
                   (runtimes[k].option == NULL ||
                    strstr(process->command, runtimes[k].option) == NULL);
    return false;
}

/* The share of CPU time that has generated code of such processes, in percent.
 */
static double
share_to_be_told(const struct profile *profile)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < profile->sample_count; i++) {
        uint32_t node = profile->samples[i].node;
        while (node != 0 && (profile->nodes[node].module != 0 ||
                             (profile->nodes[node].flags & ~NODE_RETURN) != 0))
            node = profile->nodes[node].parent;
        const struct profile_process *process =
            node != 0 ? naming_process(profile, node) : NULL;
        if (process != NULL && can_be_told(process))
            sum_add(&sum, profile->samples[i].values[VALUE_CPU]);
    }
    return number_percent(sum, profile->totals[VALUE_CPU]);
}

int
text_report_nameless(FILE *stream, struct profile *profile, bool has_jit)
{
    struct nameless nameless;
    double percent = 0;
    const char *what = "";
    bool is_advised = false;
    if (nameless_build(&nameless, profile) != 0)
        return -1;
    if (nameless.count > 0) {
        const struct nameless_row *row = &nameless.rows[0];
        percent =
            number_percent(row->values[VALUE_CPU], profile->totals[VALUE_CPU]);
        what = row->module == 0 ? "generated code"
                                : profile->modules[row->module].path;
        is_advised = row->module == 0 && !has_jit &&
                     share_to_be_told(profile) >= NAMELESS_PERCENT;
    }
    if (percent >= NAMELESS_PERCENT) {
        fprintf(stream,
                "names %.1f %% of CPU time has frames without names in %s: "
                "%s\n",
                percent, what,
                is_advised ? "`sprofile record --jit` gets them"
                           : "sprofile info says how to get them");
    }
    nameless_release(&nameless);
    return 0;
}

int
text_report_summary(FILE *stream, struct profile *profile, const char *path,
                    bool has_jit, const struct paint *paint)
{
    write_size(stream, profile, path);
    if (write_functions(stream, profile, paint) != 0 ||
        write_own_lines(stream, profile, paint) != 0)
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
               ? text_report_nameless(stream, profile, has_jit)
               : 0;
}

int
text_report_table(FILE *stream, struct profile *profile,
                  const struct text_report_options *options)
{
    struct table table;
    if (table_build(&table, profile, options->by, NULL, options->value) != 0)
        return -1;
    table_text_write(stream, profile, &table, options);
    table_release(&table);
    return 0;
}

/* Print what WHAT says of each file of PROFILE. All problems with files of
 * another host get one hint. */
static void
write_file_notes(FILE *stream, const struct profile *profile,
                 const char *what(const struct symbolizer *, uint32_t))
{
    const struct profile_process *other = NULL;
    bool has_several = false;
    unsigned count = 0;
    uint32_t last = 0;
    for (uint32_t i = 1; i < profile->module_count; i++) {
        uint32_t symbols = profile->modules[i].symbols;
        const char *sentence = what(profile->symbols, symbols);
        /* Ids of files grow, so an id that is not larger was handled before. */
        const struct profile_process *process =
            &profile->processes[profile->modules[i].process];
        bool is_new = sentence != NULL && symbols > last;
        bool is_hint = process->is_foreign && what == symbolizer_problem;
        if (is_new && !is_hint)
            fprintf(stream, "note: %s\n", sentence);
        if (is_new && is_hint && count++ == 0)
            other = process;
        if (is_new && is_hint && strcmp(process->host, other->host) != 0)
            has_several = true;
        if (symbols > last)
            last = symbols;
    }
    if (other != NULL)
        fprintf(stream,
                "note: %u file%s of %s%s %s not here, or not known to be "
                "the same: --sysroot names a copy of its files, and "
                "`sprofile convert` there writes a spool with names\n",
                count, number_plural(count),
                has_several ? "other hosts" : "host ",
                has_several ? "" : other->host, count == 1 ? "is" : "are");
}

void
text_report_unread(FILE *stream, const struct profile *profile)
{
    write_file_notes(stream, profile, symbolizer_unread);
}

void
text_report_notes(FILE *stream, const struct profile *profile, bool has_error)
{
    write_file_notes(stream, profile, symbolizer_problem);
    text_report_unread(stream, profile);
    for (uint32_t i = 0; i < profile->process_count; i++)
        for (unsigned j = 0; j < NAMING_FILES; j++)
            if (naming_problem(profile, i, j) != NULL)
                fprintf(stream, "note: %s\n", naming_problem(profile, i, j));
    if (profile->lacks_spread && has_error &&
        profile->states[STATE_RUNNING] > 0)
        fputs("note: ± is at least as large as shown: a pprof file does not "
              "say how the times of its samples differ\n",
              stream);
}

int
text_report_write(FILE *stream, struct profile *profile)
{
    const struct text_report_options options = {.value = VALUE_CPU};
    text_report_head(stream, profile, false, 0);
    if (write_own_lines(stream, profile, &paint_none) != 0)
        return -1;
    fputc('\n', stream);
    if (text_report_table(stream, profile, &options) != 0)
        return -1;
    text_report_notes(stream, profile, true);
    return ferror(stream) != 0 ? -1 : 0;
}
