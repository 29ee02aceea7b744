/* SPDX-License-Identifier: MIT */
/*
 * cmd_report.c -- `sprofile report`: shows where the time went, as a table, a
 * call tree, the callers of a function or its source (views.c). Modules without
 * symbols are noted below, because their functions have no names.
 */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "filters.h"
#include "inputs.h"
#include "numbers.h"
#include "views.h"

/* Rows of a table as text, unless -n says otherwise. */
enum { DEFAULT_ROWS = 40 };

/* Branches of a tree below this percentage are folded by default. */
static const double default_least = 1;

static const char help[] =
    "usage: sprofile report [OPTION]... FILE...\n"
    "\n"
    "Prints where the time went. flat is the time spent in a function itself,\n"
    "cum the time spent while it was on the stack, in seconds. Several files\n"
    "are added up.\n"
    "\n"
    "  --cpu              the most CPU time first (the default)\n"
    "  --wall             the most wall time first\n"
    "  --sort WHAT        flat (the default), cum, or wall (as --wall)\n"
    "  --by WHAT          function (the default), line, module, thread, "
    "state,\n"
    "                     process, exe, command or label:KEY (a label of the\n"
    "                     program)\n"
    "  --tree             the call tree, the largest branch first; > is the\n"
    "                     only function that the one above it calls\n"
    "  --callers F        who calls F: the tree upside down\n"
    "  --callees F        what F calls, wherever F was called from\n"
    "  --flame            a tree as a flame graph, as wide as the terminal\n"
    "  --depth N          a tree of at most N levels of calls\n"
    "  --lines F          the source of F with the time of each line\n"
    "                     (F: a function's name, or a regular expression)\n"
    "  --min PERCENT      fold branches of a tree below this, 1 by default\n"
    "  -n N               N rows, 40 by default in a table; 0 for all\n"
    "  --csv, --json      for programs: all rows, times in nanoseconds\n"
    "  --color WHEN       auto (the default), always or never\n"
    "  --help             this page\n"
    "\n"
    "Which samples:\n" FILTERS_HELP "\n"
    "Long output on a terminal goes through $SPROF_PAGER, $PAGER or less.\n";

/* The values of the options. *_given: the option was given. */
struct arguments {
    struct views_request request;
    struct filter_options filter;
    bool rows_given, least_given, by_given, view_given, order_given;
};

enum {
    OPTION_CPU = 0x2000,
    OPTION_WALL,
    OPTION_BY,
    OPTION_TREE,
    OPTION_CALLERS,
    OPTION_CALLEES,
    OPTION_FLAME,
    OPTION_DEPTH,
    OPTION_SORT,
    OPTION_LINES,
    OPTION_MIN,
    OPTION_CSV,
    OPTION_JSON,
    OPTION_COLOR,
};

static const struct option options[] = {
    FILTERS_OPTIONS,
    {"cpu", no_argument, NULL, OPTION_CPU},
    {"wall", no_argument, NULL, OPTION_WALL},
    {"by", required_argument, NULL, OPTION_BY},
    {"tree", no_argument, NULL, OPTION_TREE},
    {"callers", required_argument, NULL, OPTION_CALLERS},
    {"callees", required_argument, NULL, OPTION_CALLEES},
    {"flame", no_argument, NULL, OPTION_FLAME},
    {"depth", required_argument, NULL, OPTION_DEPTH},
    {"sort", required_argument, NULL, OPTION_SORT},
    {"lines", required_argument, NULL, OPTION_LINES},
    {"min", required_argument, NULL, OPTION_MIN},
    {"csv", no_argument, NULL, OPTION_CSV},
    {"json", no_argument, NULL, OPTION_JSON},
    {"color", required_argument, NULL, OPTION_COLOR},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

/* Take --by. The index of a word is its enum table_by. */
static int
take_by(struct arguments *arguments, const char *command, const char *word)
{
    static const char *const words[] = {
        [TABLE_FUNCTION] = "function", [TABLE_LINE] = "line",
        [TABLE_MODULE] = "module",     [TABLE_THREAD] = "thread",
        [TABLE_STATE] = "state",       [TABLE_PROCESS] = "process",
        [TABLE_EXE] = "exe",           [TABLE_COMMAND] = "command",
    };
    arguments->by_given = true;
    for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strcmp(word, words[i]) == 0) {
            arguments->request.text.by = (enum table_by)i;
            return STATUS_DONE;
        }
    if (strncmp(word, "label:", 6) == 0 && word[6] != '\0') {
        arguments->request.text.by = TABLE_LABEL;
        arguments->request.text.label = word + 6;
        return STATUS_DONE;
    }
    return command_usage(command,
                         "--by %s: expected function, line, module, thread, "
                         "state, process, exe, command or label:KEY",
                         word);
}

/* Take an option that selects a view. A second one is refused, because only one
 * view is shown. */
static int
take_view(struct arguments *arguments, const char *command, enum view view,
          const char *function)
{
    if (arguments->view_given)
        return command_usage(command, "expected one of --tree, --callers, "
                                      "--callees and --lines");
    arguments->view_given = true;
    arguments->request.view = view;
    arguments->request.function = function;
    return STATUS_DONE;
}

/* Take --sort. "wall" means the same as --wall: a table is sorted by its first
 * column. */
static int
take_order(struct views_request *request, const char *command, const char *word)
{
    if (strcmp(word, "wall") == 0)
        request->text.value = VALUE_WALL;
    else if (strcmp(word, "cum") == 0)
        request->order = TABLE_CUMULATIVE;
    else if (strcmp(word, "flat") == 0)
        request->order = TABLE_FLAT;
    else
        return command_usage(command, "--sort %s: expected flat, cum or wall",
                             word);
    return STATUS_DONE;
}

/* Take an option. Of --cpu and --wall the last one holds, and so for --csv and
 * --json. */
static int
take_option(struct arguments *arguments, const char *command, int option,
            const char *value)
{
    struct views_request *request = &arguments->request;
    switch (option) {
    case OPTION_CPU:
    case OPTION_WALL:
        request->text.value = option == OPTION_CPU ? VALUE_CPU : VALUE_WALL;
        return STATUS_DONE;
    case OPTION_CSV:
    case OPTION_JSON:
        request->format = option == OPTION_CSV ? COLUMNS_CSV : COLUMNS_JSON;
        return STATUS_DONE;
    case OPTION_BY:
        return take_by(arguments, command, value);
    case OPTION_TREE:
        return take_view(arguments, command, VIEW_TREE, NULL);
    case OPTION_CALLERS:
        return take_view(arguments, command, VIEW_CALLERS, value);
    case OPTION_CALLEES:
        return take_view(arguments, command, VIEW_CALLEES, value);
    case OPTION_FLAME:
        request->is_flame = true;
        return STATUS_DONE;
    case OPTION_DEPTH:
        return numbers_take_depth(command, value, &request->depth);
    case OPTION_SORT:
        arguments->order_given = true;
        return take_order(request, command, value);
    case OPTION_LINES:
        return take_view(arguments, command, VIEW_LINES, value);
    case OPTION_MIN:
        arguments->least_given = true;
        if (numbers_percent(value, &request->text.least) != 0)
            return command_usage(command, "--min %s: expected percent", value);
        return STATUS_DONE;
    case 'n':
        arguments->rows_given = true;
        return numbers_take_rows(command, value, &request->text.rows);
    case OPTION_COLOR:
        return screen_take_colour(command, value, &request->colour);
    default:
        return filters_take(&arguments->filter, command, option, value);
    }
}

/* Check which options go together, and set defaults that depend on others. Text
 * is limited to be readable; data is complete. */
static int
check_arguments(struct arguments *arguments, const char *command)
{
    struct views_request *request = &arguments->request;
    if (request->is_flame && request->view == VIEW_TABLE &&
        !arguments->by_given)
        request->view = VIEW_TREE;
    bool is_tree = request->view == VIEW_TREE ||
                   request->view == VIEW_CALLERS ||
                   request->view == VIEW_CALLEES;
    if (request->is_flame && (!is_tree || request->format != COLUMNS_TEXT))
        return command_usage(command, "--flame goes with --tree, --callers and "
                                      "--callees, as text");
    if (request->depth > 0 && !is_tree)
        return command_usage(command, "--depth goes with --tree, --callers, "
                                      "--callees and --flame");
    if (arguments->order_given && request->view != VIEW_TABLE)
        return command_usage(command, "--sort goes with a table only");
    if (arguments->rows_given && request->is_flame)
        return command_usage(command, "-n does not go with --flame; expected "
                                      "--depth");
    if (arguments->by_given && request->view != VIEW_TABLE)
        return command_usage(command, "--by goes with a table only");
    if (arguments->least_given && !is_tree)
        return command_usage(command, "--min goes with --tree, --callers, "
                                      "--callees and --flame");
    if (arguments->rows_given && request->view == VIEW_LINES)
        return command_usage(command, "-n does not go with --lines");
    if (request->format == COLUMNS_TEXT && !arguments->least_given &&
        !request->is_flame)
        request->text.least = default_least;
    if (request->format == COLUMNS_TEXT && request->view == VIEW_TABLE &&
        !arguments->rows_given)
        request->text.rows = DEFAULT_ROWS;
    return STATUS_DONE;
}

/* Load and show. Returns the exit status. */
static int
show_report(struct arguments *arguments, char *const *paths, int count)
{
    struct profile *profile =
        filters_load(&arguments->filter, paths, count, false);
    int status = STATUS_FAILED;
    if (profile != NULL)
        status =
            inputs_status(profile, views_show(profile, &arguments->request));
    profile_free(profile);
    return status;
}

int
cmd_report(int argc, char **argv)
{
    struct arguments arguments = {.request.text.value = VALUE_CPU};
    int status = STATUS_DONE, option;
    while (status == STATUS_DONE &&
           (option = getopt_long(argc, argv, "n:h", options, NULL)) != -1) {
        if (option == 'h') {
            fputs(help, stdout);
            filter_release(&arguments.filter);
            return STATUS_DONE;
        }
        status = take_option(&arguments, argv[0], option, optarg);
    }
    if (status == STATUS_DONE && optind == argc)
        status = command_usage(argv[0], "expected a FILE");
    if (status == STATUS_DONE)
        status = check_arguments(&arguments, argv[0]);
    if (status == STATUS_DONE)
        status = show_report(&arguments, argv + optind, argc - optind);
    filter_release(&arguments.filter);
    return status;
}
