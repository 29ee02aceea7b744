/* SPDX-License-Identifier: MIT */
/*
 * cmd_top.c -- `sprofile top`: shows what a process is doing now, from its
 * spool alone. No request is sent to the process.
 *
 *   pid or spool
 *      | follow.c       finds the spool, and the next one after exec
 *      v
 *   reader.c            records that are new, and those that changed in place
 *      v
 *   live/watch.c     what they stand for now
 *     cpu_share.c         CPU time by the threads' own clocks
 *     apply.c             what the filter keeps, summed up by threads ...
 *     functions.c         ... and by functions
 *      v
 *   tables.c            composes lines (page.c)
 *      v                         v
 *   stdout with --once        interactive.c: terminal, keys and time
 *
 * Once per interval, each step handles only the new records. Composing sorts
 * all functions that were ever seen, some thousands at most. Lines are made
 * only for those that fit.
 */
#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "cli/top/top.h"
#include "show/text_report.h"
#include "arguments.h"
#include "inputs.h"
#include "screen.h"

/* Rows of each table with --once, unless -n says otherwise. */
enum { DEFAULT_ROWS = 20 };

/* The values of the options. */
struct arguments {
    struct filter_options filter;
    struct top_options top;
    enum screen_colour colour;
    const char *sort; /* NULL: not given */
    bool once;
};

/* Apply --sort. Its meaning depends on the table. */
static int
check_sort(struct arguments *arguments)
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
    return command_usage(view->by == TOP_FUNCTIONS
                             ? "--sort %s: expected self, total or name"
                             : "--sort %s: expected time, name, tid or state",
                         arguments->sort);
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
    bool has_both = !command_was_given("--by");
    int status = 0;
    tables_add_head(page, follow, follow_state(follow), false);
    if (has_both || by == TOP_FUNCTIONS)
        status = add_table(page, follow, arguments, TOP_FUNCTIONS);
    if (status == 0 && (has_both || by == TOP_THREADS))
        status = add_table(page, follow, arguments, TOP_THREADS);
    return status;
}

/* Print once. If the process has ended, all its time is the interval. Notes
 * explain why functions have no names, as below a report. Returns the exit
 * status. */
static int
print_once(struct follow *follow, const struct arguments *arguments)
{
    const struct timespec step = {.tv_nsec = 20000000};
    uint64_t end = clock_now() + arguments->top.interval;
    if (!follow->is_over) {
        while (clock_now() < end &&
               (!follow->has_process || process_is_alive(&follow->process)))
            nanosleep(&step, NULL);
        if (follow_look(follow) != 0)
            return command_fail("%s", strerror(errno));
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
        text_report_notes(stdout, follow->watch->profile, true);
    }
    page_release(&page);
    screen_end(&screen);
    return status != 0 ? command_fail("%s", strerror(errno)) : STATUS_DONE;
}

/* Follow the target and show it. The first look precedes the switch to full
 * screen: it may take long, and Ctrl-C then ends this program as usual. */
static int
run_top(void *values, char *const *operands, int count)
{
    struct arguments *arguments = values;
    struct follow follow;
    char error[5000];
    (void)count;
    if (follow_begin(&follow, operands[0], &arguments->filter, error,
                     sizeof(error)) != 0) {
        text_hide_controls(error);
        return command_fail("%s", error);
    }
    int status;
    if (follow_look(&follow) != 0)
        status = command_fail("%s", strerror(errno));
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
check_arguments(void *values, char *const *operands)
{
    struct arguments *arguments = values;
    struct top_options *top = &arguments->top;
    (void)operands;
    int status = arguments->once
                     ? STATUS_DONE
                     : command_lacks("live view, only --once", SPROF_LACKS);
    if (status != STATUS_DONE)
        return status;
    if (!arguments->once && !(isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)))
        return command_usage("this is not a terminal: expected --once");
    if (arguments->once && !command_was_given("-n"))
        top->rows = DEFAULT_ROWS;
    top->has_colour = screen_has_colour(arguments->colour, STDOUT_FILENO);
    return check_sort(arguments);
}

#define FIELD(member) .field = offsetof(struct arguments, member)

static const struct command_option options[] = {
    {"interval", "S", "seconds between two looks, 1 by default",
     arguments_seconds, FIELD(top.interval), "seconds, 0.1 to 86400",
     .letter = 'd'},
    {"cpu", NULL, "CPU time (the default)", arguments_enum,
     FIELD(top.view.value), .number = VALUE_CPU},
    {"wall", NULL, "wall time: waits, too", arguments_enum,
     FIELD(top.view.value), .number = VALUE_WALL},
    {"by", "WHAT", "function (the default) or thread", arguments_word,
     FIELD(top.view.by), "function|thread"},
    {"sort", "COLUMN",
     "self (the default), total or name; of threads time\n"
     "(the default), name, tid or state",
     arguments_text, FIELD(sort)},
    {"since-start", NULL, "shares of all the time, not of the last interval",
     arguments_enum, FIELD(top.view.span), .number = SPAN_ALL},
    {"idle", NULL,
     "with --wall, idle threads as all others, not as one\n"
     "row at the end",
     arguments_flag, FIELD(top.view.shows_idle)},
    {NULL, "N", "at most N rows; 20 by default with --once, 0 for all",
     ARGUMENTS_COUNT, FIELD(top.rows), .letter = 'n'},
    {"once", NULL,
     "print one interval as plain text, functions and\n"
     "threads (or what --by says), and end",
     arguments_flag, FIELD(once)},
    {SCREEN_COLOUR_OPTION, FIELD(colour)},
    {0},
};

const struct command cmd_top = {
    .name = "top",
    .summary = "show what a process does now, refreshed every second",
    .usage = "[OPTION]... PID",
    .about = "Shows what the process PID, which was started with libsprof.so "
             "preloaded,\n"
             "does now: its hottest functions or its threads, with their "
             "shares of the\n"
             "last interval and their times since the start. A spool "
             "(NAME.sprof) may\n"
             "stand for PID. Press h for keys.\n",
    .options = options,
    .group = {"Which samples", inputs_options},
    .least = 1,
    .most = 1,
    .operands = "a PID",
    .takes_process = true,
    .values = &(const struct arguments){.top = {.interval = NS_PER_SECOND,
                                                .view.value = VALUE_CPU}},
    .size = sizeof(struct arguments),
    .check = check_arguments,
    .run = run_top,
    .release = inputs_release,
};
