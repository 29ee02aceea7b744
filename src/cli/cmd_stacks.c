/* SPDX-License-Identifier: MIT */
/*
 * cmd_stacks.c -- `sprofile stacks`: shows what all threads of a process are
 * doing now, from its spool. For a spool it shows what they were doing at the
 * last request. With --watch it asks repeatedly; known names are kept
 * meanwhile.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "cli/process/remote.h"
#include "live/stacks.h"
#include "show/stacks_text.h"
#include "store/reader.h"
#include "arguments.h"
#include "inputs.h"
#include "screen.h"

/* Longest waits for an answer and for a debuginfod server, in seconds; the user
 * can end each wait with Ctrl-C. ATTEMPTS: limit of the requests in one round,
 * if the recorder rotates. */
enum { ANSWER_SECONDS = 15, SERVER_SECONDS = 60, ATTEMPTS = 5 };

struct view {
    struct filter_options filter;
    bool has_json;
    uint64_t interval; /* ns; 0: once */
    enum screen_colour colour;
    struct stacks_text_options text;
    pid_t pid;             /* 0: a file */
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
    return command_fail("%s", error);
}

/* Print the stacks that were read. Returns 0, or -1 with errno set. */
static int
print_round(struct view *view)
{
    struct stacks *stacks = view->stacks;
    if (filter_is_set(&view->filter) &&
        stacks_filter_apply(stacks, &view->filter) != 0)
        return -1;
    /* On a terminal each round replaces the one before. */
    if (view->interval > 0 && view->text.columns > 0 && !view->has_json)
        fputs("\033[H\033[2J\033[3J", stdout);
    else if (view->rounds > 0 && !view->has_json)
        putchar('\n');
    view->rounds++;
    if (view->has_json)
        return stacks_json_write(stdout, stacks);
    if (stacks_text_write(stdout, stacks, &view->text) != 0)
        return -1;
    if (stacks->kept_count == 0 && stacks->thread_count > 0)
        command_fail("no thread matches the options");
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
    if (view->stacks != NULL) {
        view->stacks->profile->shows_native = view->filter.is_native;
        view->stacks->profile->shows_script = view->filter.is_script;
    }
    if (view->stacks != NULL && view->remote != NULL)
        stacks_tell_pid(view->stacks, (uint32_t)view->remote->process.pid);
    return view->stacks != NULL ? 0 : -1;
}

/* Ask once and show the answer. A flight recorder may rotate before the answer
 * is read; it is then asked again. Returns the exit status. */
static int
run_round(struct view *view, const char *path)
{
    char error[PATH_MAX + 512];
    int status, attempt = 0;
    do {
        if (view->remote != NULL) {
            if (view->interval > 0)
                reader_follow(view->remote->reader);
            char *answer =
                remote_ask(view->remote, REQUEST_STACKS, ANSWER_SECONDS);
            free(answer);
            if (answer == NULL)
                return print_failure(view->remote->error);
        }
        status = open_spool(view, path, error, sizeof(error));
        if (status == 0)
            status = stacks_read(view->stacks, error, sizeof(error));
    } while (status != 0 && view->remote != NULL &&
             remote_has_rotated(view->remote) && ++attempt < ATTEMPTS);
    if (status != 0)
        return print_failure(error);
    return print_round(view) != 0 ? command_fail("%s", strerror(errno))
                                  : STATUS_DONE;
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

/* Show the process or spool that the operand names. */
static int
run_stacks(void *values, char *const *operands, int count)
{
    struct view *view = values;
    int status = STATUS_DONE;
    (void)count;
    if (view->pid > 0) {
        view->remote = malloc(sizeof(*view->remote));
        if (view->remote == NULL)
            return command_fail("%s", strerror(errno));
        if (remote_open(view->remote, view->pid) != 0)
            status = print_failure(view->remote->error);
    }
    if (status == STATUS_DONE)
        status = run_on_screen(view, view->remote != NULL ? view->remote->path
                                                          : operands[0]);
    if (view->remote != NULL)
        remote_close(view->remote);
    free(view->remote);
    stacks_close(view->stacks);
    return status;
}

/* Digits alone are a pid. */
static int
check_view(void *values, char *const *operands)
{
    struct view *view = values;
    if (arguments_pid(operands[0], &view->pid) != 0 && view->interval > 0)
        return command_usage("--watch: expected a PID, %s is none",
                             operands[0]);
    return STATUS_DONE;
}

#define FIELD(member) .field = offsetof(struct view, member)

static const struct command_option options[] = {
    {NULL, "N", "at most N groups; 0, the default, is all", ARGUMENTS_COUNT,
     FIELD(text.groups), .letter = 'n'},
    {"watch", "SECONDS", "again and again, until Ctrl-C", arguments_seconds,
     FIELD(interval), .words = "seconds, 0.1 or more"},
    {"json", NULL, "for programs; one line each time", arguments_flag,
     FIELD(has_json)},
    {"full-names", NULL,
     "functions with parameters, return types and all\n"
     "template arguments",
     arguments_flag, FIELD(filter.full_names)},
    {"native", NULL, "all native frames of interpreters, too", arguments_flag,
     FIELD(filter.is_native)},
    {"script", NULL,
     "of stacks with functions of Python or PHP, these\n"
     "alone",
     arguments_flag, FIELD(filter.is_script)},
    {SCREEN_COLOUR_OPTION, FIELD(colour)},
    {0},
};

/* The filters are those of every command except --time, because stacks are of
 * one moment. */
static const struct command_option thread_options[] = {
    {"thread", "NAME|TID", "this thread (NAME may be a pattern, a*)",
     .take = inputs_take_value},
    {"state", "S",
     "in this state: running, waiting, futex, stopped,\n"
     "or a letter of proc(5)",
     .take = inputs_take_value},
    {"label", "KEY=VALUE",
     "with this label: thread, tid, state, waits_on, or one\n"
     "of the program's own",
     INPUTS_LABEL},
    {"module", "GLOB", "in the code of this module: libc.so*, app",
     INPUTS_MODULE},
    {"focus", "REGEX", "stacks with a function that matches",
     inputs_take_expression, .number = FILTER_FOCUS},
    {"ignore", "REGEX", "no stacks with a function that matches",
     inputs_take_expression, .number = FILTER_IGNORE},
    {0},
};

const struct command cmd_stacks = {
    .name = "stacks",
    .summary = "print what all threads of a process are doing, and deadlocks",
    .usage = "[OPTION]... PID|FILE",
    .about =
        "Prints what all threads of process PID are doing, which runs with\n"
        "libsprof.so: deadlocks first, then threads with the same stack\n"
        "together, the most numerous first. No thread is left out: where\n"
        "there is no stack, the reason is shown. For a spool FILE, also of a\n"
        "process that has ended: what they were doing at the last request.\n",
    .options = options,
    .group = {"Which threads (deadlocks are found among all)", thread_options},
    .least = 1,
    .most = 1,
    .operands = "one PID or FILE",
    .takes_process = true,
    .size = sizeof(struct view),
    .check = check_view,
    .run = run_stacks,
    .release = inputs_release,
};
