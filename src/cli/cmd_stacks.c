/* SPDX-License-Identifier: MIT */
/*
 * cmd_stacks.c -- `sprofile stacks`: shows what all threads of a process are
 * doing now, from its spool. For a spool it shows what they were doing at the
 * last request. With --watch it asks repeatedly; known names are kept
 * meanwhile.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "cli/process/remote.h"
#include "live/stacks.h"
#include "show/stacks_json.h"
#include "show/stacks_text.h"
#include "command.h"
#include "filters.h"
#include "numbers.h"
#include "screen.h"

/* How long an answer and a debuginfod server are awaited, in seconds; the user
 * can end each wait with Ctrl-C. ATTEMPTS: the most requests in one round, if
 * the recorder rotates. */
enum { ANSWER_SECONDS = 15, SERVER_SECONDS = 60, ATTEMPTS = 5 };

static const char help[] =
    "usage: sprofile stacks [OPTION]... PID|FILE\n"
    "\n"
    "Prints what all threads of process PID are doing, which runs with\n"
    "libsprof.so: deadlocks first, then threads with the same stack together,\n"
    "the most numerous first. No thread is left out: where there is no stack,\n"
    "the reason stands. For a spool FILE, also of a process that ended: what\n"
    "they were doing when somebody asked last.\n"
    "\n"
    "  -n N               at most N groups; 0, the default, is all\n"
    "  --watch SECONDS    again and again, until Ctrl-C\n"
    "  --json             for programs; one line each time\n"
    "  --full-names       functions with parameters, return types and all\n"
    "                     template arguments\n"
    "  --color WHEN       auto (the default), always or never\n"
    "  --help             this page\n"
    "\n"
    "Which threads (deadlocks are found among all):\n"
    "  --thread NAME|TID  this thread (NAME may be a pattern, a*)\n"
    "  --state S          in this state: running, waiting, futex, stopped,\n"
    "                     or a letter of proc(5)\n"
    "  --label KEY=VALUE  with this label: thread, tid, state, waits_on, or "
    "one\n"
    "                     of the program's own\n"
    "  --module GLOB      in the code of this module: libc.so*, app\n"
    "  --focus REGEX      stacks with a function that matches\n"
    "  --ignore REGEX     no stacks with a function that matches\n";

struct view {
    const char *title; /* "sprofile stacks" */
    bool has_json;
    uint64_t interval; /* ns; 0: once */
    enum screen_colour colour;
    struct stacks_text_options text;
    struct filter_options filter;
    struct remote *remote; /* NULL: a file */
    struct stacks *stacks;
    uint32_t rotations; /* remote->rotations when STACKS was opened */
    uint32_t rounds;    /* rounds that were shown */
};

/* Print a failure in one line. Answers and names of processes may contain
 * control characters, which are hidden. Returns STATUS_FAILED. */
static int
print_failure(char *error)
{
    text_hide_controls(error);
    fprintf(stderr, "sprofile: %s\n", error);
    return STATUS_FAILED;
}

/* Begin a round. On a terminal each round replaces the one before. */
static void
begin_round(const struct view *view)
{
    if (view->interval > 0 && view->text.columns > 0 && !view->has_json)
        fputs("\033[H\033[2J\033[3J", stdout);
    else if (view->rounds > 0 && !view->has_json)
        putchar('\n');
}

/* Print the stacks that were read. Returns 0, or -1 with errno set. */
static int
print_round(struct view *view)
{
    struct stacks *stacks = view->stacks;
    if (filter_is_set(&view->filter) &&
        stacks_filter_apply(stacks, &view->filter) != 0)
        return -1;
    begin_round(view);
    view->rounds++;
    if (view->has_json)
        return stacks_json_write(stdout, stacks);
    if (stacks_text_write(stdout, stacks, &view->text) != 0)
        return -1;
    if (stacks->kept_count == 0 && stacks->thread_count > 0)
        fputs("sprofile: no thread is what was asked for\n", stderr);
    return 0;
}

/* Open the spool at PATH unless it is open; after a rotation, open it anew. It
 * is opened after the first answer, because it has nothing to show before.
 * Returns 0, or -1 with a sentence in ERROR. */
static int
open_spool(struct view *view, const char *path, char *error, size_t size)
{
    const struct symbolizer_options options = {.inlines = true,
                                               .full_names =
                                                   view->filter.full_names,
                                               .server_seconds =
                                                   SERVER_SECONDS};
    if (view->remote != NULL && view->rotations != view->remote->rotations) {
        stacks_close(view->stacks);
        view->stacks = NULL;
        view->rotations = view->remote->rotations;
    }
    if (view->stacks != NULL)
        return 0;
    view->stacks = stacks_open(path, &options, error, size);
    if (view->stacks != NULL && view->remote != NULL)
        stacks_tell_pid(view->stacks, (uint32_t)view->remote->process.pid);
    return view->stacks != NULL ? 0 : -1;
}

/* Ask the process for its stacks, if there is one. Returns 0, or -1 with a
 * sentence in ERROR. */
static int
ask_stacks(struct view *view, char *error, size_t size)
{
    if (view->remote == NULL)
        return 0;
    char *answer =
        remote_ask(view->remote, REQUEST_STACKS, ANSWER_SECONDS, error, size);
    free(answer);
    return answer != NULL ? 0 : -1;
}

/* Ask once and show the answer. A flight recorder may rotate before the answer
 * is read; it is then asked again. Returns the exit status. */
static int
run_round(struct view *view, const char *path)
{
    char error[PATH_MAX + 512];
    int status, attempt = 0;
    do {
        if (ask_stacks(view, error, sizeof(error)) != 0)
            return print_failure(error);
        status = open_spool(view, path, error, sizeof(error));
        if (status == 0)
            status = stacks_read(view->stacks, error, sizeof(error));
    } while (status != 0 && view->remote != NULL &&
             remote_has_rotated(view->remote) && ++attempt < ATTEMPTS);
    if (status != 0)
        return print_failure(error);
    if (print_round(view) == 0)
        return STATUS_DONE;
    snprintf(error, sizeof(error), "%s", strerror(errno));
    return print_failure(error);
}

/* Run rounds until Ctrl-C or a failure. The end of the process is a failure and
 * is reported. Returns the exit status. */
static int
run_rounds(struct view *view, const char *path)
{
    uint64_t next = clock_now();
    int status = run_round(view, path);
    while (status == STATUS_DONE && view->interval > 0 && fflush(stdout) == 0) {
        uint64_t now = clock_now();
        next += view->interval;
        if (next < now)
            next = now;
        struct timespec pause = clock_timespec(next - now);
        nanosleep(&pause, NULL);
        status = run_round(view, path);
    }
    return status;
}

/* Show the rounds. With --watch there is no pager, because it would wait for an
 * end that does not come. */
static int
run_on_screen(struct view *view, const char *path)
{
    if (view->interval > 0)
        setenv("SPROF_PAGER", "", 1);
    struct screen screen;
    screen_begin(&screen, view->colour, !view->has_json);
    view->text.columns = screen.columns;
    view->text.paint = screen.paint;
    int status = run_rounds(view, path);
    screen_end(&screen);
    return status;
}

/* Show the process or spool NAME; digits alone are a pid. Returns the exit
 * status. */
static int
run_view(struct view *view, const char *name)
{
    char error[PATH_MAX + 512];
    int status = STATUS_DONE;
    pid_t pid;
    if (numbers_pid(name, &pid) == 0) {
        view->remote = malloc(sizeof(*view->remote));
        if (view->remote == NULL) {
            perror("sprofile");
            return STATUS_FAILED;
        }
        if (remote_open(view->remote, pid, error, sizeof(error)) != 0)
            status = print_failure(error);
    } else if (view->interval > 0) {
        return command_usage(view->title, "--watch: expected a PID, %s is none",
                             name);
    }
    if (status == STATUS_DONE)
        status = run_on_screen(view, view->remote != NULL ? view->remote->path
                                                          : name);
    if (view->remote != NULL)
        remote_close(view->remote);
    free(view->remote);
    stacks_close(view->stacks);
    return status;
}

/* Values beyond those of filters.h. */
enum { OPTION_JSON = 0x2000, OPTION_WATCH };

/* Take OPTION with its VALUE. Returns STATUS_DONE, or an exit status after a
 * message. */
static int
take_option(struct view *view, int option, const char *value)
{
    switch (option) {
    case 'n':
        return numbers_take_rows(view->title, value, &view->text.groups);
    case 'c':
        return screen_take_colour(view->title, value, &view->colour);
    case OPTION_WATCH:
        if (numbers_seconds(value, &view->interval) != 0)
            return command_usage(view->title,
                                 "--watch %s: expected seconds, 0.1 or more",
                                 value);
        return STATUS_DONE;
    case OPTION_JSON:
        view->has_json = true;
        return STATUS_DONE;
    default:
        return filters_take(&view->filter, view->title, option, value);
    }
}

/* The filters are those of every command except --time, because stacks are of
 * one moment. */
int
cmd_stacks(int argc, char **argv)
{
    static const struct option options[] = {
        {"thread", required_argument, NULL, FILTERS_THREAD},
        {"state", required_argument, NULL, FILTERS_STATE},
        {"label", required_argument, NULL, FILTERS_LABEL},
        {"module", required_argument, NULL, FILTERS_MODULE},
        {"focus", required_argument, NULL, FILTERS_FOCUS},
        {"ignore", required_argument, NULL, FILTERS_IGNORE},
        {"full-names", no_argument, NULL, FILTERS_FULL_NAMES},
        {"watch", required_argument, NULL, OPTION_WATCH},
        {"json", no_argument, NULL, OPTION_JSON},
        {"color", required_argument, NULL, 'c'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    struct view view = {.title = argv[0]};
    int status = STATUS_DONE, option;
    while (status == STATUS_DONE &&
           (option = getopt_long(argc, argv, "hn:", options, NULL)) != -1) {
        if (option == 'h') {
            fputs(help, stdout);
            filter_release(&view.filter);
            return STATUS_DONE;
        }
        status = take_option(&view, option, optarg);
    }
    if (status == STATUS_DONE && optind + 1 != argc)
        status = command_usage(argv[0], "expected one PID or FILE");
    if (status == STATUS_DONE)
        status = run_view(&view, argv[optind]);
    filter_release(&view.filter);
    return status;
}
