/* SPDX-License-Identifier: MIT */
/*
 * cmd_info.c -- `sprofile info`: what a spool is about and how good it is.
 * Below the head that every report has (text_report.h) it prints
 *
 *   end      seen
 *   library  libsprof 0.1.0
 *   triggers timer 4, kept 9
 *   states   running 9, waiting 4
 *   handler  median 0.50 us, p99 0.80 us, longest 1.20 us, 4 times
 *   rules    812 learned
 *   peeked   1204 stacks of waiting threads, 3 unsure
 *   skipped  7 points, merged into others
 *
 * (the last two where there were any), then where wall time went, the modules
 * and the threads, one a line, and what has no names.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/activity.h"
#include "profile/profile.h"
#include "write/nameless_report.h"
#include "write/phrase.h"
#include "write/text_report.h"

#include "command.h"
#include "input.h"

enum { ACTIVITY_ROWS = 10 };

static const char help[] =
    "usage: sprofile info FILE...\n"
    "\n"
    "Prints what was profiled: command, times, modules with build-ids, "
    "threads;\n"
    "what threads did: ran, waited for a CPU, or in which system call for "
    "what;\n"
    "and how well: who interrupted, what was lost or cut, what it cost, which\n"
    "frames have no names and what would help.\n"
    "\n"
    "  --help    this page\n";

/* The words of SPROF_TRIGGER, where there is one. */
static const char *const trigger_words[TRIGGER_COUNT] = {
    [TRIGGER_NONE] = "none", [TRIGGER_PERF] = "perf", [TRIGGER_TIMER] = "timer",
    [TRIGGER_ASK] = "ask",   [TRIGGER_KEPT] = "kept",
};

/* As in the state label of samples, but for the names of system calls. */
static const char *const state_words[STATE_COUNT] = {
    [STATE_RUNNING] = "running",
    [STATE_WAITING] = "waiting",
    [STATE_RUNQUEUE] = "runnable",
};

/* One line: TITLE and each counter that is not 0 with its word. */
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

/* For qsort. */
static int
compare_numbers(const void *a, const void *b)
{
    uint32_t one = *(const uint32_t *)a, two = *(const uint32_t *)b;

    return (one > two) - (one < two);
}

/* How long threads stood in the handler. Sorts the profile's own list, which
 * nobody else reads. */
static void
print_handler(struct profile *profile)
{
    size_t count = profile->stopped_count;
    const uint32_t *sorted = profile->stopped;

    if (count == 0) {
        puts("handler  never entered");
        return;
    }
    qsort(profile->stopped, count, sizeof *profile->stopped, compare_numbers);
    printf("handler  median %.2f us, p99 %.2f us, longest %.2f us, "
           "%zu times\n",
           sorted[(count - 1) / 2] / 1e3, sorted[(count - 1) * 99 / 100] / 1e3,
           sorted[count - 1] / 1e3, count);
}

/* How each process ended, and what recorded it. */
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

/* What the recorder did without interrupting anybody. */
static void
print_peeks(const struct profile_cost *cost)
{
    if (cost->peeked > 0)
        printf("peeked   %llu stacks of waiting threads, %llu unsure\n",
               (unsigned long long)cost->peeked,
               (unsigned long long)cost->unsure);
    if (cost->skipped > 0)
        printf("skipped  %llu points, merged into others\n",
               (unsigned long long)cost->skipped);
}

/* Where wall time went, the most first. */
static int
print_activity(struct profile *profile)
{
    struct activity activity;

    if (activity_build(&activity, profile) < 0)
        return -1;
    puts("\nwall time by state\n       wall s      %  state         waits for");
    for (uint32_t i = 0; i < activity.count && i < ACTIVITY_ROWS; i++) {
        const struct activity_row *row = &activity.rows[i];
        bool waits = row->waits_on[0] != '\0';
        printf("%13.3f  %5.1f  %-*s%s%s\n", phrase_seconds(row->wall),
               phrase_percent(row->wall, profile->totals[VALUE_WALL]),
               waits ? 12 : 0, row->state, waits ? "  " : "", row->waits_on);
    }
    if (activity.count > ACTIVITY_ROWS)
        printf("(%u more)\n", activity.count - ACTIVITY_ROWS);
    activity_release(&activity);
    return 0;
}

/* Build-ids are what other tools find debug files by. */
static void
print_modules(const struct profile *profile)
{
    printf("\n%u modules\n", profile->module_count - 1);
    for (uint32_t i = 1; i < profile->module_count; i++) {
        const struct profile_module *module = &profile->modules[i];
        printf("  %016llx-%016llx  %-40s  %s\n",
               (unsigned long long)module->start,
               (unsigned long long)module->end,
               module->build_id[0] != '\0' ? module->build_id : "no build-id",
               module->path);
    }
}

/* All threads, also those that were never sampled. Their own clocks are exact;
 * where one is not known, the samples' sum stands for it. */
static void
print_threads(const struct profile *profile)
{
    printf(
        "\n%u threads\n      tid     samples       cpu s      wall s  name\n",
        profile->thread_count);
    for (uint32_t i = 0; i < profile->thread_count; i++) {
        const struct profile_thread *thread = &profile->threads[i];
        uint64_t cpu =
            thread->has_cpu ? thread->cpu : thread->values[VALUE_CPU];
        printf("%9u %11llu %11.3f %11.3f  %s\n", thread->tid,
               (unsigned long long)thread->values[VALUE_SAMPLES],
               phrase_seconds(cpu), phrase_seconds(thread->values[VALUE_WALL]),
               thread->name);
    }
}

/* The head is the same as in a report. Returns the exit status. */
static int
print_info(char *const *paths, int count)
{
    struct profile *profile = input_load(paths, count);
    int status = STATUS_DONE;

    if (profile == NULL)
        return STATUS_FAILED;
    text_report_head(stdout, profile);
    print_ends(profile);
    print_mix("triggers", profile->triggers, TRIGGER_COUNT, trigger_words);
    print_mix("states", profile->states, STATE_COUNT, state_words);
    print_handler(profile);
    printf("rules    %llu learned\n", (unsigned long long)profile->cost.rules);
    print_peeks(&profile->cost);
    if (print_activity(profile) < 0)
        status = STATUS_FAILED;
    print_modules(profile);
    print_threads(profile);
    if (nameless_report_write(stdout, profile) < 0)
        status = STATUS_FAILED;
    profile_free(profile);
    return status;
}

/* There are no options yet but the one that every command has. */
int
cmd_info(int argc, char **argv)
{
    static const struct option options[] = {
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    int option;

    while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
        if (option != 'h')
            return command_usage(argv[0], NULL);
        fputs(help, stdout);
        return STATUS_DONE;
    }
    if (optind == argc)
        return command_usage(argv[0], "expected a FILE");
    return print_info(argv + optind, argc - optind);
}
