/* SPDX-License-Identifier: MIT */
/*
 * cmd_info.c -- `sprofile info`: what a spool contains and how good it is.
 * Below the head of every report (text_report.h) it prints
 *
 *   end      seen
 *   library  libsprof 0.1.0
 *   triggers timer 4, kept 9
 *   states   running 9, waiting 4
 *   handler  median 0.50 us, p99 0.80 us, longest 1.20 us, 4 times
 *   rules    812 learned
 *   peeked   1204 stacks of waiting threads, 3 unsure
 *   skipped  7 points, merged into others
 *   expired  1 wait of the library, at the deadline
 *   missed   12 of 4071 samples (2.9 of 1000): a rule was not known yet
 *   sessions 2 times of sampling, 12.400 s in all
 *   labels   request (12 values), user (3 values)
 *   marks    4 instants, 2 spans
 *
 * Lines from "peeked" on appear if their counts are not 0. A pprof file has the
 * states alone. After these lines come the wall time by state, the modules and
 * the threads, one per line, and the code without names. Several processes have
 * a line each; a module is then listed once, however many processes have it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/quality.h"
#include "model/spending.h"
#include "model/profile.h"
#include "show/columns.h"
#include "show/text_report.h"
#include "util/intern.h"
#include "util/number.h"
#include "view/table.h"
#include "inputs.h"
#include "screen.h"

/* Limit of the rows of wall time by state. */
enum { ACTIVITY_ROWS = 10 };

/* Least width of a name. Bits of the columns that a narrow terminal may lack.
 */
enum {
    NAME_LEAST = 8,
    ACTIVITY_LAST = 0x8,
    PROCESS_DISPENSABLE = 0x36,
    THREAD_DISPENSABLE = 0x14
};

/* The values of the options. */
struct arguments {
    struct filter_options filter;
    enum screen_colour colour;
};

/* The words of triggers: those of SPROF_TRIGGER where it has one. */
static const char *const trigger_words[TRIGGER_COUNT] = {
    [TRIGGER_NONE] = "none",   [TRIGGER_PERF] = "perf",
    [TRIGGER_TIMER] = "timer", [TRIGGER_ASK] = "ask",
    [TRIGGER_KEPT] = "kept",   [TRIGGER_HOOK] = "measured",
};

/* As in the state label of samples, but without the names of system calls. */
static const char *const state_words[STATE_COUNT] = {
    [STATE_RUNNING] = "running",
    [STATE_WAITING] = "waiting",
    [STATE_RUNQUEUE] = "runnable",
};

/* Print a line: TITLE, and each counter that is not 0 with its word. */
static void
print_mix(const char *title, const uint64_t *counters, unsigned count,
          const char *const *words)
{
    const char *separator = "";
    printf("%-9s", title);
    for (unsigned i = 0; i < count; i++) {
        if (counters[i] == 0)
            continue;
        printf("%s%s %llu", separator, words[i],
               (unsigned long long)counters[i]);
        separator = ", ";
    }
    puts(separator[0] == '\0' ? "none" : "");
}

/* For qsort(3). */
static int
compare_numbers(const void *a, const void *b)
{
    uint32_t one = *(const uint32_t *)a, two = *(const uint32_t *)b;
    return (one > two) - (one < two);
}

/* Print how long threads stood in the handler. This sorts the profile's own
 * list, which no other code reads. */
static void
print_handler(struct profile *profile)
{
    size_t count = profile->stopped_count;
    const uint32_t *sorted = profile->stopped;
    if (count == 0) {
        puts("handler  never entered");
        return;
    }
    qsort(profile->stopped, count, sizeof(*profile->stopped), compare_numbers);
    printf("handler  median %.2f us, p99 %.2f us, longest %.2f us, "
           "%zu time%s\n",
           sorted[(count - 1) / 2] / 1e3, sorted[(count - 1) * 99 / 100] / 1e3,
           sorted[count - 1] / 1e3, count, number_plural(count));
}

/* Print how each process ended, and which library recorded it. */
static void
print_ends(const struct profile *profile)
{
    for (uint32_t i = 0; i < profile->process_count; i++) {
        const struct profile_process *process = &profile->processes[i];
        printf("end      %s\n", process->ended
                                    ? "seen"
                                    : "not seen: it was killed or still runs");
        if (process->version[0] != '\0')
            printf("library  libsprof %s\n", process->version);
    }
}

/* Print how the recorder did its work. */
static void
print_work(const struct profile_cost *cost)
{
    if (cost->peeked > 0)
        printf("peeked   %llu stack%s of waiting threads, %llu unsure\n",
               (unsigned long long)cost->peeked, number_plural(cost->peeked),
               (unsigned long long)cost->unsure);
    if (cost->skipped > 0)
        printf("skipped  %llu point%s, merged into others\n",
               (unsigned long long)cost->skipped, number_plural(cost->skipped));
    if (cost->expired > 0)
        printf("expired  %llu wait%s of the library, at the deadline\n",
               (unsigned long long)cost->expired, number_plural(cost->expired));
    if (cost->missed > 0)
        printf("missed   %llu of %llu sample%s (%.1f of 1000): "
               "a rule was not known yet\n",
               (unsigned long long)cost->missed,
               (unsigned long long)cost->taken, number_plural(cost->taken),
               number_percent(cost->missed, cost->taken) * 10);
}

/* Count the different values of each key of the program's labels, in the order
 * of KEYS. Returns -1 if memory is short. */
static int
count_values(const struct profile *profile, struct intern *keys,
             struct intern *pairs, unsigned *counts)
{
    for (uint32_t i = 0; i < profile->label_count; i++) {
        const struct profile_label *label = &profile->labels[i];
        const uintptr_t pair[2] = {(uintptr_t)label->key,
                                   (uintptr_t)label->value};
        uint32_t known = intern_count(pairs);
        uint32_t key = intern_put(keys, pair, sizeof(pair[0]));
        uint32_t number = intern_put(pairs, pair, sizeof(pair));
        if (key == INTERN_NONE || number == INTERN_NONE)
            return -1;
        counts[key] += number == known;
    }
    return 0;
}

static int
print_labels(const struct profile *profile)
{
    struct intern *keys = intern_new(), *pairs = intern_new();
    unsigned *counts = calloc(profile->label_count + 1u, sizeof(*counts));
    int status = -1;
    if (keys != NULL && pairs != NULL && counts != NULL)
        status = count_values(profile, keys, pairs, counts);
    for (uint32_t i = 0; status == 0 && i < intern_count(keys); i++) {
        const uintptr_t *key = intern_bytes(keys, i);
        printf("%s%s (%u value%s)", i == 0 ? "labels   " : ", ",
               (const char *)*key, counts[i], number_plural(counts[i]));
    }
    if (profile->label_count > 0)
        putchar('\n');
    free(counts);
    intern_free(keys);
    intern_free(pairs);
    return status;
}

/* Print how long sampling was on, unless each process was sampled all its life,
 * within 1 %. A filtered profile and that of a flight recorder are not
 * complete, so nothing is printed for them. */
static void
print_sessions(const struct profile *profile)
{
    uint64_t sampled, lived = 0;
    uint32_t count = profile_sessions(profile, &sampled);
    for (uint32_t i = 0; i < profile->process_count; i++) {
        sum_add(&lived, profile->processes[i].duration);
        if (profile->processes[i].keep != 0)
            return;
    }
    if (profile->filter == NULL && count > 0 &&
        (count > profile->process_count || sampled < lived - lived / 100))
        printf("sessions %u time%s of sampling, %.3f s in all\n", count,
               number_plural(count), number_seconds(sampled));
}

/* Print the program's labels and marks. Returns -1 if memory is short. */
static int
print_annotations(const struct profile *profile)
{
    uint64_t kinds[MARK_SPAN + 1] = {0};
    unsigned traced = 0;
    print_sessions(profile);
    if (print_labels(profile) != 0)
        return -1;
    for (size_t i = 0; i < profile->timed_mark_count; i++) {
        const struct profile_mark *mark = &profile->timed_marks[i];
        if (mark->kind == MARK_USER && strcmp(mark->name, MARK_TRACED) == 0)
            traced++;
        else
            kinds[mark->kind]++;
    }
    if (traced > 0)
        printf(
            "traced   %u time%s, by no known debugger: threads that ran then "
            "have no samples\n",
            traced, number_plural(traced));
    if (kinds[MARK_USER] + kinds[MARK_SPAN] > 0)
        printf("marks    %llu instant%s, %llu span%s\n",
               (unsigned long long)kinds[MARK_USER],
               number_plural(kinds[MARK_USER]),
               (unsigned long long)kinds[MARK_SPAN],
               number_plural(kinds[MARK_SPAN]));
    return 0;
}

/* Print where wall time went, the largest part first. Returns -1 if memory is
 * short. */
static int
print_activity(struct profile *profile, unsigned limit)
{
    static const struct column all[] = {
        {"wall s", 13, 0},   {"%", 5, 2},  {"state", -12, 2},
        {"waits for", 0, 2}, {NULL, 0, 0},
    };
    struct columns columns = {.stream = stdout,
                              .all = all,
                              .limit = limit,
                              .least = NAME_LEAST};
    struct table table;
    columns_fit(&columns, ACTIVITY_LAST);
    if (table_build(&table, profile, TABLE_ACTIVITY, NULL, VALUE_WALL) != 0)
        return -1;
    putchar('\n');
    columns_titles(&columns, "wall time by state");
    for (uint32_t i = 0; i < table.count && i < ACTIVITY_ROWS; i++) {
        const struct table_row *row = &table.rows[i];
        columns_seconds(&columns, row->flat[VALUE_WALL]);
        columns_percent(&columns, number_percent(row->flat[VALUE_WALL],
                                                 profile->totals[VALUE_WALL]));
        columns_text(&columns, row->function);
        if (row->module[0] != '\0')
            columns_name(&columns, row->module);
        columns_end_row(&columns);
    }
    if (table.count > ACTIVITY_ROWS)
        printf("(%u more)\n", table.count - ACTIVITY_ROWS);
    table_release(&table);
    return 0;
}

/* Print one process per line, the one with most CPU time first. Processes
 * without samples are counted in a line below. Returns -1 if memory is short.
 */
static int
print_processes(struct profile *profile, unsigned limit)
{
    static const struct column all[] = {
        {"pid", 9, 0},     {"start s", 8, 1}, {"s", 8, 1},
        {"cpu s", 10, 1},  {"wall s", 10, 1}, {"end", -4, 2},
        {"command", 0, 2}, {NULL, 0, 0},
    };
    struct columns columns = {.stream = stdout,
                              .all = all,
                              .limit = limit,
                              .least = NAME_LEAST};
    struct table table;
    columns_fit(&columns, PROCESS_DISPENSABLE);
    if (table_build(&table, profile, TABLE_PROCESS, NULL, VALUE_CPU) != 0)
        return -1;
    printf("\n%u processes\n", profile->process_count);
    columns_titles(&columns, NULL);
    for (uint32_t i = 0; i < table.count; i++) {
        const struct table_row *row = &table.rows[i];
        const struct profile_process *process =
            &profile->processes[row->number];
        columns_number(&columns, process->pid);
        columns_seconds(&columns, process->start - profile->start);
        columns_seconds(&columns, process->duration);
        columns_seconds(&columns, row->flat[VALUE_CPU]);
        columns_seconds(&columns, row->flat[VALUE_WALL]);
        columns_text(&columns, process->ended ? "seen" : "-");
        columns_name(&columns, process->command);
        columns_end_row(&columns);
    }
    if (table.count < profile->process_count)
        printf("(%u without samples)\n", profile->process_count - table.count);
    table_release(&table);
    return 0;
}

/* Print each file once, with the number of processes that mapped it. Its
 * addresses are left out, because they differ between processes. Returns -1 if
 * memory is short. */
static int
print_files(const struct profile *profile)
{
    struct intern *files = intern_new();
    uint32_t *uses = calloc(profile->module_count + 1u, sizeof(*uses));
    int status = files == NULL || uses == NULL ? -1 : 0;
    for (uint32_t i = 1; i < profile->module_count && status == 0; i++) {
        const struct profile_module *module = &profile->modules[i];
        char key[5000];
        snprintf(key, sizeof(key), "%-40s  %s",
                 module->build_id[0] != '\0' ? module->build_id : "no build-id",
                 module->path);
        uint32_t number = intern_string(files, key);
        status = number == INTERN_NONE ? -1 : 0;
        if (status == 0)
            uses[number]++;
    }
    if (status == 0)
        printf("\n%u module%s\n     uses  build-id                          "
               "        path\n",
               intern_count(files), number_plural(intern_count(files)));
    for (uint32_t i = 0; status == 0 && i < intern_count(files); i++)
        printf("%9u  %s\n", uses[i], (const char *)intern_bytes(files, i));
    intern_free(files);
    free(uses);
    return status;
}

/* Print the modules. Other tools find debug files by the build-ids. */
static void
print_modules(const struct profile *profile)
{
    printf("\n%u module%s\n", profile->module_count - 1,
           number_plural(profile->module_count - 1));
    for (uint32_t i = 1; i < profile->module_count; i++) {
        const struct profile_module *module = &profile->modules[i];
        printf("  %016llx-%016llx  %-40s  %s\n",
               (unsigned long long)module->start,
               (unsigned long long)module->end,
               module->build_id[0] != '\0' ? module->build_id : "no build-id",
               module->path);
    }
}

/* Print all threads, also those that were never sampled. If a filter is set,
 * only threads with samples are printed. A thread's own clock is exact. The sum
 * of its samples replaces it if the clock is not known or a filter is set. */
static void
print_threads(const struct profile *profile, unsigned limit)
{
    static const struct column all[] = {
        {"pid", 9, 0},     {"tid", 9, 0},  {"points", 11, 1}, {"cpu s", 11, 1},
        {"wall s", 11, 1}, {"name", 0, 2}, {NULL, 0, 0},
    };
    struct columns columns = {.stream = stdout,
                              .all = all,
                              .limit = limit,
                              .least = NAME_LEAST,
                              .hidden = profile->process_count == 1};
    bool chosen = profile->filter != NULL;
    uint32_t count =
        chosen ? profile_busy_threads(profile) : profile->thread_count;
    columns_fit(&columns, THREAD_DISPENSABLE);
    printf("\n%u thread%s\n", count, number_plural(count));
    columns_titles(&columns, NULL);
    for (uint32_t i = 0; i < profile->thread_count; i++) {
        const struct profile_thread *thread = &profile->threads[i];
        const uint64_t *values = thread->values;
        uint64_t cpu =
            thread->has_cpu && !chosen ? thread->cpu : values[VALUE_CPU];
        if (chosen && values[VALUE_SAMPLES] == 0)
            continue;
        columns_number(&columns, profile->processes[thread->process].pid);
        columns_number(&columns, thread->tid);
        columns_number(&columns, values[VALUE_SAMPLES]);
        columns_seconds(&columns, cpu);
        columns_seconds(&columns, values[VALUE_WALL]);
        columns_name(&columns, thread->name);
        columns_end_row(&columns);
    }
}

/* Print how the samples were taken. A pprof file has only what the head shows.
 */
static void
print_recording(struct profile *profile)
{
    char text[512];
    if (quality_due(profile, text, sizeof(text))[0] != '\0')
        printf("due      %s\n", text);
    if (profile->process_count > 1 &&
        spending_rates(profile, text, sizeof(text))[0] != '\0')
        printf("epochs   %s\n", text);
    if (spending_cost(profile, text, sizeof(text))[0] != '\0')
        printf("spent    %s\n", text);
    if (profile->is_from_pprof) {
        puts("source   pprof; a spool (.sprof) shows more");
    } else {
        if (profile->process_count == 1)
            print_ends(profile);
        print_mix("triggers", profile->triggers, TRIGGER_COUNT, trigger_words);
    }
    print_mix("states", profile->states, STATE_COUNT, state_words);
    if (profile->is_from_pprof)
        return;
    print_handler(profile);
    printf("rules    %llu learned\n", (unsigned long long)profile->cost.rules);
    print_work(&profile->cost);
}

/* Print all parts. The head for one process differs from that for several. */
static int
print_parts(struct profile *profile, unsigned columns)
{
    bool several = profile->process_count > 1;
    text_report_head(stdout, profile, several, several ? columns : 0);
    print_recording(profile);
    if (print_annotations(profile) != 0 ||
        print_activity(profile, columns) != 0 ||
        (several &&
         (print_processes(profile, columns) != 0 || print_files(profile) != 0)))
        return -1;
    if (!several)
        print_modules(profile);
    print_threads(profile, columns);
    return nameless_report_write(stdout, profile);
}

/* Load and print. */
static int
run_info(void *values, char *const *paths, int count)
{
    const struct arguments *arguments = values;
    struct profile *profile =
        inputs_load(&arguments->filter, paths, count, false);
    int status = STATUS_DONE;
    if (profile == NULL)
        return STATUS_FAILED;
    struct screen screen;
    screen_begin(&screen, arguments->colour, true);
    if (print_parts(profile, screen.columns) != 0)
        status = command_fail("%s", strerror(errno));
    screen_end(&screen);
    status = inputs_status(profile, status);
    profile_free(profile);
    return status;
}

static const struct command_option options[] = {
    {SCREEN_COLOUR_OPTION, .field = offsetof(struct arguments, colour)},
    {0},
};

const struct command cmd_info = {
    .name = "info",
    .summary = "print what was profiled, what was lost, what it cost",
    .usage = "[OPTION]... FILE...",
    .about =
        "Prints what was profiled: command, times, processes, modules with\n"
        "build-ids, threads. Prints what threads did: ran, waited for a CPU,\n"
        "or in which system call for what. Prints how good the profile is:\n"
        "what interrupted threads, what was lost or cut, what it cost, which\n"
        "frames have no names and what would help.\n",
    .options = options,
    .group = {"Which samples (what is lost, cut and the cost stay those of the "
              "whole)",
              inputs_options},
    .least = 1,
    .operands = "a FILE",
    .size = sizeof(struct arguments),
    .run = run_info,
    .release = inputs_release,
};
