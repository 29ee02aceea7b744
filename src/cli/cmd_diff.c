/* SPDX-License-Identifier: MIT */
/*
 * cmd_diff.c -- `sprofile diff`: what became slower and faster between two
 * profiles, without differences that are only noise (view/diff.h). For CI, the
 * exit status says whether anything became slower by more than is allowed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "show/data_report.h"
#include "show/text_report.h"
#include "util/number.h"
#include "view/diff.h"
#include "write/page_diff.h"
#include "arguments.h"
#include "inputs.h"
#include "screen.h"

/* Rows of a table as text, unless -n says otherwise. */
enum { DEFAULT_ROWS = 20 };

/* The values of the options. */
struct arguments {
    struct filter_options filter;
    struct diff_options test;
    struct text_report_options text;
    enum screen_colour colour;
    enum { BY_FUNCTION, BY_STACK } by;
    bool all, cumulative;
    const char *out; /* NULL: the result is printed */
};

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
print_notes(const struct profile *old, const struct profile *new,
            bool has_error)
{
    const struct profile *sides[] = {old, new};
    char *texts[2] = {NULL, NULL};
    for (unsigned i = 0; i < 2; i++) {
        size_t size;
        FILE *stream = open_memstream(&texts[i], &size);
        if (stream == NULL)
            continue;
        text_report_notes(stream, sides[i], has_error);
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
    if (diff_fails(diff))
        return STATUS_SLOWER;
    if (diff->is_total_open && !command_was_given("--shares"))
        return command_fail("the total is %+.1f %%, and not compared: the runs "
                            "are not known to have done the same; expected "
                            "--absolute, or --shares if they did other work",
                            100 * (diff->total.new / diff->total.old - 1));
    return STATUS_DONE;
}

/* Write the page. */
static int
write_page(struct profile *old, struct profile *new,
           const struct arguments *arguments)
{
    const struct page_diff page = {
        .content = {page_diff_make},
        .old = old,
        .new = new,
        .test = &arguments->test,
    };
    char error[4096 + 512];
    if (output_file_make(arguments->out, &page.content, error, sizeof(error)) !=
        0)
        return command_fail("%s", error);
    puts(arguments->out);
    return STATUS_DONE;
}

static void
print_diff(const struct diff *diff, struct profile *old, struct profile *new,
           struct arguments *arguments)
{
    const struct diff_options *test = &arguments->test;
    struct screen screen;
    bool is_text = arguments->text.format == COLUMNS_TEXT;
    screen_begin(&screen, arguments->colour, is_text);
    arguments->text.columns = screen.columns;
    arguments->text.paint = screen.paint;
    bool has_error = false;
    arguments->text.has_error = &has_error;
    (is_text ? diff_text_write : data_report_diff)(stdout, diff, old, new, test,
                                                   arguments->all,
                                                   &arguments->text);
    if (is_text)
        print_notes(old, new, has_error);
    screen_end(&screen);
}

/* Compare the profiles and print or write the result. Returns the exit status.
 */
static int
show_diff(struct profile *old, struct profile *new, struct arguments *arguments)
{
    struct diff_options *test = &arguments->test;
    int status = STATUS_DONE;
    if (!command_was_given("--absolute") && !command_was_given("--shares"))
        test->absolute = diff_runs_are_alike(old, new);
    struct diff diff;
    if (diff_build(&diff, old, new, test) != 0)
        return command_fail("%s", strerror(errno));
    if (arguments->out != NULL)
        status = write_page(old, new, arguments);
    else
        print_diff(&diff, old, new, arguments);
    if (status == STATUS_DONE)
        status = status_of_diff(&diff, test);
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
    command_fail("%s: it has no %s time", path,
                 test->value == VALUE_CPU ? "CPU" : "wall");
    return false;
}

/* Load both profiles and compare them. Events are loaded because they show
 * which samples belong to one point (view/significance.c). */
static int
run_diff(void *values, char *const *paths, int count)
{
    struct arguments *arguments = values;
    struct profile *sides[2] = {NULL, NULL};
    int status = STATUS_FAILED;
    for (int i = 0; i < count && (i == 0 || sides[0] != NULL); i++)
        sides[i] = inputs_load(&arguments->filter, paths + i, 1, true);
    if (sides[1] != NULL &&
        is_comparable(sides[0], &arguments->test, paths[0]) &&
        is_comparable(sides[1], &arguments->test, paths[1]))
        status = show_diff(sides[0], sides[1], arguments);
    profile_free(sides[1]);
    profile_free(sides[0]);
    return status;
}

/* Take --level. A level of 0 would find nothing, and one of 100 everything. */
static int
take_level(const struct command_option *option, void *field, const char *value)
{
    double percent = 0;
    int status = arguments_percent(option, &percent, value);
    if (status == STATUS_DONE && (percent <= 0 || percent >= 100))
        status = arguments_refuse(option, value);
    *(double *)field = percent / 100;
    return status;
}

/* Take -o. A comparison is written to no file but the page. */
static int
take_out(const struct command_option *option, void *field, const char *value)
{
    const char **out = field;
    if (*out != NULL)
        return command_usage("expected one -o OUT.html");
    if (format_of(value) != FORMAT_PAGE)
        return command_usage("-o %s: expected a name that ends with .html",
                             value);
    return arguments_text(option, field, value);
}

/* Check which options go together, and set defaults that depend on others. */
static int
check_arguments(void *values, char *const *operands)
{
    struct arguments *arguments = values;
    (void)operands;
    if (arguments->cumulative && arguments->by == BY_STACK)
        return command_usage("--cum goes with --by function only");
    if (arguments->out != NULL &&
        (arguments->cumulative || arguments->by == BY_STACK ||
         arguments->text.format != COLUMNS_TEXT || command_was_given("-n") ||
         command_was_given("--all")))
        return command_usage("-o goes with no option for rows: the page has "
                             "all of them, by function");
    if (arguments->by == BY_STACK)
        arguments->test.by = MEASURE_STACK;
    if (arguments->cumulative)
        arguments->test.by = MEASURE_CUMULATIVE;
    if (arguments->text.format == COLUMNS_TEXT && !command_was_given("-n"))
        arguments->text.rows = DEFAULT_ROWS;
    return STATUS_DONE;
}

#define FIELD(member) .field = offsetof(struct arguments, member)

static const struct command_option options[] = {
    {"cpu", NULL, "compare CPU time (the default)", arguments_enum,
     FIELD(test.value), .number = VALUE_CPU},
    {"wall", NULL, "compare wall time", arguments_enum, FIELD(test.value),
     .number = VALUE_WALL},
    {"by", "WHAT", "function (the default) or stack", arguments_word, FIELD(by),
     .words = "function|stack"},
    {"cum", NULL,
     "time while a function was on the stack, not only in\n"
     "the function itself",
     arguments_flag, FIELD(cumulative)},
    {"absolute", NULL, "compare seconds: the runs did the same work",
     arguments_flag, FIELD(test.absolute)},
    {"shares", NULL, "compare shares of the total: they did not",
     arguments_clear, FIELD(test.absolute)},
    {"all", NULL, "also what is not significant", arguments_flag, FIELD(all)},
    {"min", "PERCENT",
     "the smallest change, in percent of the whole, 1 by\n"
     "default: runs always differ a little",
     ARGUMENTS_PERCENT, FIELD(test.least)},
    {"level", "PERCENT",
     "how often a finding may be a false alarm, 1 by default", take_level,
     FIELD(test.level), .words = "percent, more than 0, less than 100"},
    {"fail-above", "P",
     "end with status 3 if a function, or where seconds\n"
     "are compared the total, became slower by more than P percent",
     ARGUMENTS_PERCENT, FIELD(test.fail_above)},
    {NULL, "N", "N rows of each kind, 20 by default; 0 for all",
     ARGUMENTS_COUNT, FIELD(text.rows), .letter = 'n'},
    {"csv", NULL, NULL, arguments_enum, FIELD(text.format),
     .number = COLUMNS_CSV},
    {"json", NULL, "for programs: times in nanoseconds", arguments_enum,
     FIELD(text.format), .number = COLUMNS_JSON},
    {SCREEN_COLOUR_OPTION, FIELD(colour)},
    {"output", "OUT",
     "write a page with both profiles instead, a name that\n"
     "ends with .html, and print its name",
     take_out, FIELD(out), .letter = 'o'},
    {0},
};

const struct command cmd_diff = {
    .name = "diff",
    .summary = "print what became slower and faster",
    .usage = "[OPTION]... OLD NEW",
    .about = "Prints the change of the total, then what became slower and "
             "faster from\n"
             "OLD to NEW: in seconds where both ran the same command, else in "
             "shares,\n"
             "for which NEW is scaled to the total of OLD. The first line says "
             "which.\n"
             "What may be noise, given the number of samples, is left out. -o "
             "writes\n"
             "a page instead, with both flame graphs.\n",
    .options = options,
    .group = {"Which samples, of both", inputs_options},
    .notes = "The status is 0, 3 for --fail-above, 2 for wrong arguments, 1 "
             "for other\n"
             "failures; with --fail-above also 1 if functions cannot be "
             "compared, as\n"
             "one profile lacks names.\n",
    .least = 2,
    .most = 2,
    .operands = "OLD and NEW",
    /* FAIL_ABOVE below 0: --fail-above was not given. */
    .values = &(const struct arguments){.test = {.by = MEASURE_FUNCTION,
                                                 .value = VALUE_CPU,
                                                 .level = 0.01,
                                                 .least = 1,
                                                 .fail_above = -1}},
    .size = sizeof(struct arguments),
    .check = check_arguments,
    .run = run_diff,
    .release = inputs_release,
};
