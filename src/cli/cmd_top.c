/* SPDX-License-Identifier: MIT */
/*
 * cmd_top.c -- `sprofile top`: shows what a process is doing now, from its
 * spool alone. No request is sent to the process.
 *
 *   pid or spool
 *      | follow.c       finds the spool (find_spool.c), and the next one after
 * exec
 *      v
 *   reader.c            records that are new, and those that changed in place
 *      v
 *   live/watch.c     what they stand for now
 *     clocks.c            CPU time by the threads' own clocks
 *     settle.c            what the filter keeps, summed up by threads ...
 *     functions.c         ... and by functions
 *      v
 *   head.c, tables.c    compose lines (page.c)
 *      v                         v
 *   stdout with --once        interactive.c: keys and time
 *                             terminal.c: the terminal
 *
 * Once per interval, each step handles only the new records. Composing sorts
 * all functions that were ever seen, some thousands at most. Lines are made
 * only for those that fit.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "cli/top/follow.h"
#include "cli/top/page.h"
#include "cli/top/top.h"
#include "live/watch.h"
#include "show/text_report.h"
#include "command.h"
#include "filters.h"
#include "numbers.h"
#include "screen.h"

/* Rows of each table with --once, unless -n says otherwise. */
enum { DEFAULT_ROWS = 20 };

static const char help[] =
    "usage: sprofile top [OPTION]... PID\n"
    "\n"
    "Shows what the process PID, which was started with libsprof.so "
    "preloaded,\n"
    "does now: its hottest functions or its threads, with their shares of the\n"
    "last interval and their times since the start. A spool (NAME.sprof) may\n"
    "stand for PID. Press h for keys.\n"
    "\n"
    "  -d, --interval S   seconds between two looks, 1 by default\n"
    "  --cpu              CPU time (the default)\n"
    "  --wall             wall time: waits, too\n"
    "  --by WHAT          function (the default) or thread\n"
    "  --sort COLUMN      self (the default), total or name; of threads time\n"
    "                     (the default), name, tid or state\n"
    "  --since-start      shares of all the time, not of the last interval\n"
    "  -n N               at most N rows; 20 by default with --once, 0 for "
    "all\n"
    "  --once             print one interval as plain text, functions and\n"
    "                     threads (or what --by says), and end\n"
    "  --color WHEN       auto (the default), always or never\n"
    "  --help             this page\n"
    "\n"
    "Which samples:\n" FILTERS_HELP;

/* The values of the options. *_given: the option was given. */
struct arguments {
    struct top_options top;
    struct filter_options filter;
    enum screen_colour colour;
    const char *sort; /* NULL: not given */
    bool once, rows_given, by_given;
};

enum {
    OPTION_CPU = 0x2000,
    OPTION_WALL,
    OPTION_BY,
    OPTION_SORT,
    OPTION_SINCE_START,
    OPTION_ONCE,
    OPTION_COLOR,
};

static const struct option options[] = {
    FILTERS_OPTIONS,
    {"interval", required_argument, NULL, 'd'},
    {"cpu", no_argument, NULL, OPTION_CPU},
    {"wall", no_argument, NULL, OPTION_WALL},
    {"by", required_argument, NULL, OPTION_BY},
    {"sort", required_argument, NULL, OPTION_SORT},
    {"since-start", no_argument, NULL, OPTION_SINCE_START},
    {"once", no_argument, NULL, OPTION_ONCE},
    {"color", required_argument, NULL, OPTION_COLOR},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

/* Take an option with a number or a word. */
static int
take_value(struct arguments *arguments, const char *command, int option,
           const char *value)
{
    struct top_options *top = &arguments->top;
    if (option == 'd') {
        if (numbers_seconds(value, &top->interval) != 0)
            return command_usage(command,
                                 "-d %s: expected seconds, 0.1 to 86400",
                                 value);
    } else {
        arguments->by_given = true;
        if (strcmp(value, "function") != 0 && strcmp(value, "thread") != 0)
            return command_usage(command,
                                 "--by %s: expected function or thread", value);
        top->view.by = value[0] == 't' ? TOP_THREADS : TOP_FUNCTIONS;
    }
    return STATUS_DONE;
}

/* Take an option. Of --cpu and --wall the last one holds. */
static int
take_option(struct arguments *arguments, const char *command, int option,
            const char *value)
{
    struct top_view *view = &arguments->top.view;
    switch (option) {
    case OPTION_CPU:
    case OPTION_WALL:
        view->value = option == OPTION_CPU ? VALUE_CPU : VALUE_WALL;
        return STATUS_DONE;
    case OPTION_SINCE_START:
        view->span = SPAN_ALL;
        return STATUS_DONE;
    case OPTION_ONCE:
        arguments->once = true;
        return STATUS_DONE;
    case OPTION_SORT:
        arguments->sort = value;
        return STATUS_DONE;
    case 'n':
        arguments->rows_given = true;
        return numbers_take_rows(command, value, &arguments->top.rows);
    case OPTION_COLOR:
        return screen_take_colour(command, value, &arguments->colour);
    case 'd':
    case OPTION_BY:
        return take_value(arguments, command, option, value);
    default:
        return filters_take(&arguments->filter, command, option, value);
    }
}

/* Apply --sort. Its meaning depends on the table. */
static int
check_sort(struct arguments *arguments, const char *command)
{
    static const struct {
        const char *word;
        enum top_by by;
        enum top_order order;
    } orders[] = {
        {"self", TOP_FUNCTIONS, TOP_SELF}, {"total", TOP_FUNCTIONS, TOP_TOTAL},
        {"name", TOP_FUNCTIONS, TOP_NAME}, {"time", TOP_THREADS, TOP_SELF},
        {"name", TOP_THREADS, TOP_NAME},   {"tid", TOP_THREADS, TOP_TID},
        {"state", TOP_THREADS, TOP_STATE},
    };
    struct top_view *view = &arguments->top.view;
    for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++)
        if (arguments->sort == NULL ||
            (orders[i].by == view->by &&
             strcmp(orders[i].word, arguments->sort) == 0)) {
            if (arguments->sort != NULL)
                view->orders[view->by] = orders[i].order;
            return STATUS_DONE;
        }
    return command_usage(command,
                         view->by == TOP_FUNCTIONS
                             ? "--sort %s: expected self, total or name"
                             : "--sort %s: expected time, name, tid or state",
                         arguments->sort);
}

static int
print_failure(const char *why)
{
    fprintf(stderr, "sprofile: %s\n", why);
    return STATUS_FAILED;
}

/* Add an empty line, a table, and the number of rows that were left out. */
static int
add_table(struct page *page, const struct follow *follow,
          const struct arguments *arguments, enum top_by by)
{
    struct top_view view = arguments->top.view;
    uint32_t rows = arguments->top.rows;
    view.by = by;
    fputc('\n', page->stream);
    uint32_t count;
    if (tables_add(page, follow->watch, &view, 0, rows, &count) != 0)
        return -1;
    if (rows > 0 && count > rows)
        fprintf(page->stream, "(%u more; -n 0 shows all)\n", count - rows);
    return 0;
}

/* Compose the head and both tables, or the table that was asked for. Printed
 * output has no keys that switch to the other table. */
static int
compose_once(struct page *page, const struct follow *follow,
             const struct arguments *arguments)
{
    enum top_by by = arguments->top.view.by;
    int status = 0;
    head_add(page, follow, follow_state(follow), false);
    if (!arguments->by_given || by == TOP_FUNCTIONS)
        status = add_table(page, follow, arguments, TOP_FUNCTIONS);
    if (status == 0 && (!arguments->by_given || by == TOP_THREADS))
        status = add_table(page, follow, arguments, TOP_THREADS);
    return status;
}

/* Wait for INTERVAL ns, or until the process has ended. */
static void
wait_interval(const struct follow *follow, uint64_t interval)
{
    const struct timespec step = {.tv_nsec = 20000000};
    uint64_t end = clock_now() + interval;
    while (clock_now() < end &&
           (!follow->has_process || process_is_alive(&follow->process)))
        nanosleep(&step, NULL);
}

/* Print once. If the process has ended, all its time is the interval. Notes
 * explain why functions have no names, as below a report. Returns the exit
 * status. */
static int
print_once(struct follow *follow, const struct arguments *arguments)
{
    if (!follow->is_over) {
        wait_interval(follow, arguments->top.interval);
        if (follow_look(follow) != 0)
            return print_failure(strerror(errno));
    }
    struct screen screen;
    screen_begin(&screen, arguments->colour, true);
    struct page page;
    int status = page_begin(&page, screen.columns);
    if (status == 0)
        status = compose_once(&page, follow, arguments);
    if (page.stream != NULL && page_end(&page) != 0)
        status = -1;
    if (status == 0) {
        page_print(stdout, &page, screen.paint);
        text_report_notes(stdout, follow->watch->profile);
    }
    page_release(&page);
    screen_end(&screen);
    return status != 0 ? print_failure(strerror(errno)) : STATUS_DONE;
}

/* Follow TARGET and show it. The first look precedes the switch to full screen:
 * it may take long, and Ctrl-C then ends this program as usual. Returns the
 * exit status. */
static int
run_top(struct arguments *arguments, const char *target)
{
    struct follow follow;
    char error[5000];
    if (follow_begin(&follow, target, &arguments->filter, error,
                     sizeof(error)) != 0) {
        text_hide_controls(error);
        return print_failure(error);
    }
    int status;
    if (follow_look(&follow) != 0)
        status = print_failure(strerror(errno));
    else if (arguments->once)
        status = print_once(&follow, arguments);
    else
        status = interactive_run(&follow, &arguments->top);
    follow_end(&follow);
    return status;
}

/* Check which options go together. The full-screen display needs a terminal on
 * both sides: without one, --once was forgotten. */
static int
check_arguments(struct arguments *arguments, const char *command)
{
    struct top_options *top = &arguments->top;
    if (!arguments->once && !(isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)))
        return command_usage(command,
                             "this is not a terminal: expected --once");
    if (arguments->once && !arguments->rows_given)
        top->rows = DEFAULT_ROWS;
    top->has_colour = screen_has_colour(arguments->colour);
    return check_sort(arguments, command);
}

int
cmd_top(int argc, char **argv)
{
    struct arguments arguments = {
        .top = {.interval = NS_PER_SECOND, .view.value = VALUE_CPU}};
    int status = STATUS_DONE, option;
    while (status == STATUS_DONE &&
           (option = getopt_long(argc, argv, "d:n:h", options, NULL)) != -1) {
        if (option == 'h') {
            fputs(help, stdout);
            filter_release(&arguments.filter);
            return STATUS_DONE;
        }
        status = take_option(&arguments, argv[0], option, optarg);
    }
    if (status == STATUS_DONE && optind + 1 != argc)
        status = command_usage(argv[0], "expected a PID");
    if (status == STATUS_DONE)
        status = check_arguments(&arguments, argv[0]);
    if (status == STATUS_DONE)
        status = run_top(&arguments, argv[optind]);
    filter_release(&arguments.filter);
    return status;
}
