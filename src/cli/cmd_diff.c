/* SPDX-License-Identifier: MIT */
/*
 * cmd_diff.c -- `sprofile diff`: what became slower and faster between two
 * profiles, without differences that are only noise (view/diff.h). For CI, the
 * exit status says whether anything became slower by more than is allowed.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "show/data_report.h"
#include "show/diff_text.h"
#include "util/number.h"
#include "view/diff.h"
#include "view/runs.h"
#include "command.h"
#include "filters.h"
#include "numbers.h"
#include "screen.h"

/* Rows of a table as text, unless -n says otherwise. */
enum { DEFAULT_ROWS = 20 };

static const char help[] =
    "usage: sprofile diff [OPTION]... OLD NEW\n"
    "\n"
    "Prints the change of the total, then what became slower and faster from\n"
    "OLD to NEW: in seconds where both ran the same command, else in shares,\n"
    "for which NEW is scaled to the total of OLD. The first line says which.\n"
    "What may be noise, given the number of samples, is left out.\n"
    "\n"
    "  --cpu              compare CPU time (the default)\n"
    "  --wall             compare wall time\n"
    "  --by WHAT          function (the default) or stack\n"
    "  --cum              time while a function was on the stack, not only in\n"
    "                     the function itself\n"
    "  --absolute         compare seconds: the runs did the same work\n"
    "  --shares           compare shares of the total: they did not\n"
    "  --all              also what is not significant\n"
    "  --min PERCENT      a change is at least so much of the whole, 1 by\n"
    "                     default: runs differ, whatever the samples say\n"
    "  --level PERCENT    how often a finding may be a false alarm, 1 by "
    "default\n"
    "  --fail-above P     end with status 3 if a function, or where seconds\n"
    "                     are compared the total, became slower by more than P "
    "percent\n"
    "  -n N               N rows of each kind, 20 by default; 0 for all\n"
    "  --csv, --json      for programs: times in nanoseconds\n"
    "  --color WHEN       auto (the default), always or never\n"
    "  --help             this page\n"
    "\n"
    "Which samples, of both:\n" FILTERS_HELP "\n"
    "The status is 0, 3 for --fail-above, 2 for wrong arguments, 1 for other\n"
    "failures; with --fail-above also 1 if functions cannot be compared, as\n"
    "one profile lacks names.\n";

/* The values of the options. */
struct arguments {
    struct diff_options test;
    struct filter_options filter;
    struct text_report_options text;
    enum columns_format format;
    enum screen_colour colour;
    bool all, rows_given, cumulative;
    bool is_chosen; /* an option chose between seconds and shares */
};

enum {
    /* Values beyond those of filters.h and of all characters. */
    OPTION_CPU = 0x2000,
    OPTION_WALL,
    OPTION_BY,
    OPTION_CUM,
    OPTION_ABSOLUTE,
    OPTION_SHARES,
    OPTION_ALL,
    OPTION_MIN,
    OPTION_LEVEL,
    OPTION_FAIL_ABOVE,
    OPTION_CSV,
    OPTION_JSON,
    OPTION_COLOR,
};

static const struct option options[] = {
    FILTERS_OPTIONS,
    {"cpu", no_argument, NULL, OPTION_CPU},
    {"wall", no_argument, NULL, OPTION_WALL},
    {"by", required_argument, NULL, OPTION_BY},
    {"cum", no_argument, NULL, OPTION_CUM},
    {"absolute", no_argument, NULL, OPTION_ABSOLUTE},
    {"shares", no_argument, NULL, OPTION_SHARES},
    {"all", no_argument, NULL, OPTION_ALL},
    {"min", required_argument, NULL, OPTION_MIN},
    {"level", required_argument, NULL, OPTION_LEVEL},
    {"fail-above", required_argument, NULL, OPTION_FAIL_ABOVE},
    {"csv", no_argument, NULL, OPTION_CSV},
    {"json", no_argument, NULL, OPTION_JSON},
    {"color", required_argument, NULL, OPTION_COLOR},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

/* Take an option without a value. Returns whether OPTION is one of them. */
static bool
take_switch(struct arguments *arguments, int option)
{
    switch (option) {
    case OPTION_CPU:
    case OPTION_WALL:
        arguments->test.value = option == OPTION_CPU ? VALUE_CPU : VALUE_WALL;
        return true;
    case OPTION_CSV:
    case OPTION_JSON:
        arguments->format = option == OPTION_CSV ? COLUMNS_CSV : COLUMNS_JSON;
        return true;
    case OPTION_ABSOLUTE:
    case OPTION_SHARES:
        arguments->test.absolute = option == OPTION_ABSOLUTE;
        arguments->is_chosen = true;
        return true;
    case OPTION_CUM:
        arguments->cumulative = true;
        return true;
    case OPTION_ALL:
        arguments->all = true;
        return true;
    default:
        return false;
    }
}

/* Take --by, which changes what a row is. check_arguments adds --cum to it at
 * the end. */
static int
take_by(struct arguments *arguments, const char *command, const char *word)
{
    bool by_stack = strcmp(word, "stack") == 0;
    if (!by_stack && strcmp(word, "function") != 0)
        return command_usage(command, "--by %s: expected function or stack",
                             word);
    arguments->test.by = by_stack ? MEASURE_STACK : MEASURE_FUNCTION;
    return STATUS_DONE;
}

static int
take_percent(const char *command, const char *name, const char *value,
             double *percent)
{
    if (numbers_percent(value, percent) != 0)
        return command_usage(command, "%s %s: expected percent", name, value);
    return STATUS_DONE;
}

/* Take --level. A level of 0 would find nothing, and one of 100 everything. */
static int
take_level(struct arguments *arguments, const char *command, const char *value)
{
    double percent;
    if (numbers_percent(value, &percent) != 0 || percent <= 0 || percent >= 100)
        return command_usage(
            command, "--level %s: expected percent, more than 0, less than 100",
            value);
    arguments->test.level = percent / 100;
    return STATUS_DONE;
}

static int
take_option(struct arguments *arguments, const char *command, int option,
            const char *value)
{
    struct diff_options *test = &arguments->test;
    if (take_switch(arguments, option))
        return STATUS_DONE;
    switch (option) {
    case OPTION_BY:
        return take_by(arguments, command, value);
    case OPTION_MIN:
        return take_percent(command, "--min", value, &test->least);
    case OPTION_LEVEL:
        return take_level(arguments, command, value);
    case OPTION_FAIL_ABOVE:
        return take_percent(command, "--fail-above", value, &test->fail_above);
    case 'n':
        arguments->rows_given = true;
        return numbers_take_rows(command, value, &arguments->text.rows);
    case 'o':
        return command_usage(command, "-o %s: diff writes no files yet", value);
    case OPTION_COLOR:
        return screen_take_colour(command, value, &arguments->colour);
    default:
        return filters_take(&arguments->filter, command, option, value);
    }
}

/* Print the functions that fail the test, for the log of the caller that reads
 * the status. */
static void
print_failures(const struct diff *diff, const struct diff_options *test)
{
    for (uint32_t i = 0; i < diff->count; i++) {
        const struct diff_row *row = &diff->rows[i];
        if (!row->fails)
            continue;
        fprintf(stderr,
                "sprofile: slower by more than %g %%: ", test->fail_above);
        diff_text_name(stderr, diff, row, test->by, 0);
        if (row->old > 0)
            fprintf(stderr, ", %+.1f %%\n", 100 * row->change / row->old);
        else
            fputs(", new\n", stderr);
    }
    if (diff->total.fails)
        fprintf(stderr,
                "sprofile: slower by more than %g %%: the total, "
                "%+.1f %%\n",
                test->fail_above, 100 * diff->total.change / diff->total.old);
}

/* Print the notes about names of OLD and of NEW. Notes that are the same are
 * printed once. */
static void
print_notes(const struct profile *old, const struct profile *new)
{
    const struct profile *sides[] = {old, new};
    char *texts[2] = {NULL, NULL};
    for (unsigned i = 0; i < 2; i++) {
        size_t size;
        FILE *stream = open_memstream(&texts[i], &size);
        if (stream == NULL)
            continue;
        text_report_notes(stream, sides[i]);
        fclose(stream);
        if (texts[i] != NULL &&
            (i == 0 || texts[0] == NULL || strcmp(texts[0], texts[1]) != 0))
            fputs(texts[i], stdout);
    }
    free(texts[0]);
    free(texts[1]);
}

/* The exit status for DIFF. If functions of one profile lack names, they appear
 * as gone or as new, and none as slower. Such a result must count neither as a
 * regression nor as none. */
static int
status_of_diff(const struct diff *diff, const struct diff_options *test)
{
    const struct diff_row *row = diff_find_nameless(diff);
    if (row != NULL) {
        fputs("sprofile: functions cannot be compared: ", stderr);
        diff_text_name(stderr, diff, row, test->by, 0);
        fprintf(stderr,
                " is %.1f %% of OLD and %.1f %% of NEW (was a program "
                "replaced since?)\n",
                number_percent((uint64_t)row->old, (uint64_t)diff->total.old),
                number_percent((uint64_t)row->new, (uint64_t)diff->total.new));
    }
    if (row != NULL && test->fail_above >= 0)
        return STATUS_FAILED;
    print_failures(diff, test);
    return diff_fails(diff) ? STATUS_SLOWER : STATUS_DONE;
}

/* Compare the profiles and print the result. Returns the exit status. */
static int
show_diff(struct profile *old, struct profile *new, struct arguments *arguments)
{
    struct diff_options *test = &arguments->test;
    if (!arguments->is_chosen)
        test->absolute = runs_are_alike(old, new);
    struct diff diff;
    if (diff_build(&diff, old, new, test) != 0) {
        fprintf(stderr, "sprofile: %s\n", strerror(errno));
        return STATUS_FAILED;
    }
    struct screen screen;
    screen_begin(&screen, arguments->colour, arguments->format == COLUMNS_TEXT);
    arguments->text.columns = screen.columns;
    arguments->text.paint = screen.paint;
    if (arguments->format == COLUMNS_TEXT)
        diff_text_write(stdout, &diff, old, new, test, arguments->all,
                        &arguments->text);
    else
        data_report_diff(&(struct data_report){stdout, arguments->format,
                                               test->value,
                                               arguments->text.rows},
                         &diff, old, new, test, arguments->all);
    if (arguments->format == COLUMNS_TEXT)
        print_notes(old, new);
    screen_end(&screen);
    int status = status_of_diff(&diff, test);
    diff_release(&diff);
    return status;
}

/* Whether PROFILE has the value that is compared. A profile without it says
 * nothing about it, which does not mean "no regression". */
static bool
is_comparable(const struct profile *profile, const struct diff_options *test,
              const char *path)
{
    if (profile->totals[test->value] > 0 || profile->filter != NULL)
        return true;
    fprintf(stderr, "sprofile: %s: there is no %s time in it\n", path,
            test->value == VALUE_CPU ? "CPU" : "wall");
    return false;
}

/* Load both profiles and compare them. Events are loaded because they tell
 * which samples belong to one point (view/significance.h). Returns the exit
 * status. */
static int
run_diff(struct arguments *arguments, char *const *paths)
{
    struct profile *old = filters_load(&arguments->filter, paths, 1, true);
    struct profile *new =
        old == NULL ? NULL
                    : filters_load(&arguments->filter, paths + 1, 1, true);
    int status = STATUS_FAILED;
    if (new != NULL && is_comparable(old, &arguments->test, paths[0]) &&
        is_comparable(new, &arguments->test, paths[1]))
        status = show_diff(old, new, arguments);
    profile_free(new);
    profile_free(old);
    return status;
}

/* Check which options go together, and set defaults that depend on others. */
static int
check_arguments(struct arguments *arguments, const char *command, int count)
{
    if (count != 2)
        return command_usage(command, "expected OLD and NEW");
    if (arguments->cumulative && arguments->test.by == MEASURE_STACK)
        return command_usage(command, "--cum goes with --by function only");
    if (arguments->cumulative)
        arguments->test.by = MEASURE_CUMULATIVE;
    if (arguments->format == COLUMNS_TEXT && !arguments->rows_given)
        arguments->text.rows = DEFAULT_ROWS;
    return STATUS_DONE;
}

int
cmd_diff(int argc, char **argv)
{
    /* FAIL_ABOVE below 0: --fail-above was not given. */
    struct arguments arguments = {
        .test = {.by = MEASURE_FUNCTION,
                 .value = VALUE_CPU,
                 .level = 0.01,
                 .least = 1,
                 .fail_above = -1},
    };
    int status = STATUS_DONE, option;
    while (status == STATUS_DONE &&
           (option = getopt_long(argc, argv, "n:o:h", options, NULL)) != -1) {
        if (option == 'h') {
            fputs(help, stdout);
            filter_release(&arguments.filter);
            return STATUS_DONE;
        }
        status = take_option(&arguments, argv[0], option, optarg);
    }
    if (status == STATUS_DONE)
        status = check_arguments(&arguments, argv[0], argc - optind);
    if (status == STATUS_DONE)
        status = run_diff(&arguments, argv + optind);
    filter_release(&arguments.filter);
    return status;
}
