/* SPDX-License-Identifier: MIT */
/*
 * interactive.c -- `sprofile top` on a terminal (interactive_run in top.h). All
 * data that is drawn is in memory, so a key or a resized terminal is answered
 * at once. The process is looked at once per interval.
 *
 * SIGINT quits, like the key q. SIGTERM and SIGHUP end this process, but the
 * terminal is restored first.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/command.h"
#include "follow.h"
#include "page.h"
#include "terminal.h"
#include "top.h"

/* WAIT_MS: the longest wait for a key, in ms. A signal that comes just before
 * the wait does not interrupt it. */
enum { WAIT_MS = 200 };

/* LINES_FEW: a terminal with fewer lines has no room for the whole head. */
enum { LINES_FEW = 16 };

/* The smallest step of `+` and `-`, which is also the shortest interval, and
 * the longest interval, in ns. */
#define INTERVAL_LEAST 100000000u
#define INTERVAL_MOST 86400000000000u

static const char foot[] = "q quit  c cpu  w wall  f functions  t threads  "
                           "s sort  r recent/all  p pause  h help";
static const char foot_over[] =
    "it has ended; keys still change the view, any other leaves";

static const char *const help[] = {
    "c  w        CPU time; wall time",
    "f  t        functions; threads",
    "s           sort by the next column",
    "r           shares of the last interval, or of all since the start",
    "p  blank    pause, and go on",
    "+  -        longer and shorter intervals",
    "arrows, page up, page down, home",
    "            the other rows",
    "q, Ctrl-C   quit",
    "",
    "self and total are the shares of a function itself, and of all while it",
    "was on the stack. Seconds are always those since the start.",
};

/* The state of the display. */
struct display {
    struct follow *follow;
    struct top_options options;
    uint32_t first, count; /* first row shown; number of all rows */
    uint64_t next;         /* time of the next look, ns */
    bool is_paused, is_help, is_done;
};

static volatile sig_atomic_t signal_seen;

static void
on_signal(int number)
{
    signal_seen = number;
}

/* A signal that is ignored stays ignored: nohup(1) relies on that. */
static void
catch_signals(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = on_signal};
    sigemptyset(&action.sa_mask);
    struct sigaction old;
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        if (sigaction(numbers[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(numbers[i], &action, NULL);
}

/* Show the help in place of the tables, until the next key. */
static void
add_help(struct page *page)
{
    fprintf(page->stream, "%skeys%s\n", page_paint.title, page_paint.end);
    for (size_t i = 0; i < sizeof(help) / sizeof(help[0]); i++)
        fprintf(page->stream, "  %s\n", help[i]);
}

/* Fill PAGE. The number of lines of the head is not known here, so more rows
 * are made than fit. The screen leaves the surplus out. */
static int
compose_page(struct display *display, struct page *page)
{
    const struct follow *follow = display->follow;
    unsigned lines = terminal_lines();
    bool is_short = lines < LINES_FEW;
    if (display->is_help) {
        add_help(page);
        return 0;
    }
    head_add(page, follow, display->is_paused ? "paused" : follow_state(follow),
             is_short);
    if (!is_short)
        fputc('\n', page->stream);
    return tables_add(page, follow->watch, &display->options.view,
                      display->first,
                      display->options.rows > 0 ? display->options.rows : lines,
                      &display->count);
}

/* Make a page and draw it. */
static int
draw_page(struct display *display)
{
    struct page page;
    int status = page_begin(&page, terminal_columns());
    if (status == 0)
        status = compose_page(display, &page);
    if (page.stream != NULL && page_end(&page) != 0)
        status = -1;
    if (status == 0)
        terminal_draw(&page,
                      display->is_help
                          ? "any key goes back"
                          : (display->follow->is_over ? foot_over : foot));
    page_release(&page);
    return status;
}

/* Change the view as KEY says. The new view begins at its first row. */
static void
change_view(struct display *display, int key)
{
    struct top_view *view = &display->options.view;
    display->first = 0;
    if (key == 'c' || key == 'w')
        view->value = key == 'c' ? VALUE_CPU : VALUE_WALL;
    else if (key == 'f' || key == 't')
        view->by = key == 'f' ? TOP_FUNCTIONS : TOP_THREADS;
    else if (key == 'r')
        view->span = view->span == SPAN_ALL ? SPAN_INTERVAL : SPAN_ALL;
    else
        tables_next_order(view);
}

/* Scroll if KEY is one that scrolls. Returns whether it is. */
static bool
scroll_rows(struct display *display, int key)
{
    uint32_t page = terminal_lines() / 2;
    switch (key) {
    case TERMINAL_UP:
        display->first -= display->first > 0;
        return true;
    case TERMINAL_DOWN:
        display->first += display->first + 1 < display->count;
        return true;
    case TERMINAL_PAGE_UP:
        display->first -= display->first < page ? display->first : page;
        return true;
    case TERMINAL_PAGE_DOWN:
        if (display->first + page < display->count)
            display->first += page;
        return true;
    case TERMINAL_HOME:
        display->first = 0;
        return true;
    default:
        return false;
    }
}

/* Change the interval by a step: a tenth of a second, a second, ten, and so on.
 * The step fits the size of the interval. */
static void
change_interval(struct display *display, bool longer)
{
    uint64_t *interval = &display->options.interval, step = INTERVAL_LEAST;
    while (*interval >= step * 10 + (longer ? 0 : 1) &&
           step < INTERVAL_MOST / 10)
        step *= 10;
    if (longer && *interval + step <= INTERVAL_MOST)
        *interval += step;
    else if (!longer && *interval > step)
        *interval -= step;
    display->next = clock_now() + *interval;
}

/* After the end of the process, a key without a meaning quits. */
static void
obey_key(struct display *display, int key)
{
    if (key == TERMINAL_NONE || key == TERMINAL_RESIZED)
        return;
    if (display->is_help) {
        display->is_help = false;
        return;
    }
    if (key == 'q' || key == 'Q' || key == 27)
        display->is_done = true;
    else if (key < 0x80 && strchr("cwftrs", key) != NULL)
        change_view(display, key);
    else if (key == 'p' || key == ' ')
        display->is_paused = !display->is_paused;
    else if (key == '+' || key == '-')
        change_interval(display, key == '+');
    else if (key == 'h' || key == '?')
        display->is_help = true;
    else if (!scroll_rows(display, key) && display->follow->is_over)
        display->is_done = true;
}

/* Time until the next look in ms, at most WAIT_MS. */
static int
time_to_wait(const struct display *display)
{
    uint64_t now = clock_now();
    if (display->is_paused || display->follow->is_over)
        return WAIT_MS;
    uint64_t ms = now < display->next ? (display->next - now) / 1000000 + 1 : 0;
    return ms < WAIT_MS ? (int)ms : WAIT_MS;
}

/* Look at the process if the interval is over. After a pause, all that came
 * meanwhile is one interval. */
static int
look_if_due(struct display *display, bool *is_new)
{
    uint64_t now = clock_now();
    *is_new = false;
    if (display->is_paused || display->follow->is_over || now < display->next)
        return 0;
    display->next += display->options.interval;
    if (display->next < now)
        display->next = now + display->options.interval;
    *is_new = true;
    return follow_look(display->follow);
}

/* A terminal that has gone answers every read at once; isatty(3) ends that
 * loop. */
static int
run_display(struct display *display)
{
    bool is_new = true;
    while (!display->is_done && signal_seen == 0 && isatty(STDIN_FILENO)) {
        if (is_new && draw_page(display) != 0)
            return -1;
        int key = terminal_key(time_to_wait(display));
        obey_key(display, key);
        if (look_if_due(display, &is_new) != 0)
            return -1;
        is_new |= key != TERMINAL_NONE;
    }
    return 0;
}

int
interactive_run(struct follow *follow, const struct top_options *options)
{
    struct display display = {.follow = follow,
                              .options = *options,
                              .next = clock_now() + options->interval};
    catch_signals();
    const char *why;
    if (terminal_begin(options->has_colour, &why) != 0)
        return command_complain("%s: try --once", why);
    int status = run_display(&display);
    int error = errno;
    terminal_end();
    if (status != 0)
        command_fail("%s", strerror(error));
    if (signal_seen == SIGTERM || signal_seen == SIGHUP) {
        signal((int)signal_seen, SIG_DFL);
        raise((int)signal_seen);
    }
    return status != 0 ? STATUS_FAILED : STATUS_DONE;
}
