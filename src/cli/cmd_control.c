/* SPDX-License-Identifier: MIT */
/*
 * cmd_control.c -- `sprofile start`, `stop` and `dump`: send a request to a
 * running process and print its answer.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/process/remote.h"
#include "arguments.h"

/* Longest wait for an answer, in seconds. The process symbolizes and writes a
 * profile before it answers `dump`. */
enum { SOON = 10, DUMP_SECONDS = 600 };

struct control {
    enum request request;
    unsigned seconds; /* to wait for the answer */
    pid_t pid;
};

/* Print TEXT, which has several lines, without the control characters within
 * its lines. */
static void
print_lines(char *text)
{
    for (char *line = strtok(text, "\n"); line != NULL;
         line = strtok(NULL, "\n")) {
        text_hide_controls(line);
        puts(line);
    }
}

static int
check_pid(void *values, char *const *operands)
{
    struct control *control = values;
    if (arguments_pid(operands[0], &control->pid) != 0)
        return command_usage("%s: expected the PID of a process", operands[0]);
    return STATUS_DONE;
}

/* Send the request and print the answer. */
static int
run_control(void *values, char *const *operands, int count)
{
    const struct control *control = values;
    struct remote *remote = malloc(sizeof(*remote));
    char *answer = NULL;
    (void)operands;
    (void)count;
    if (remote == NULL)
        return command_fail("%s", strerror(errno));
    if (remote_open(remote, control->pid) == 0)
        answer = remote_ask(remote, control->request, control->seconds);
    if (answer != NULL)
        print_lines(answer);
    else
        command_fail("%s", remote->error);
    remote_close(remote);
    free(remote);
    free(answer);
    return answer != NULL ? STATUS_DONE : STATUS_FAILED;
}

/* The fields that the three commands share. */
#define CONTROL(its_request, its_seconds)                                     \
    .usage = "PID", .options = &(const struct command_option){0}, .least = 1, \
    .most = 1, .operands = "one PID", .takes_process = true,                  \
    .size = sizeof(struct control),                                           \
    .values = &(const struct control){its_request, its_seconds, 0},           \
    .check = check_pid, .run = run_control

const struct command cmd_control_start = {
    .name = "start",
    .summary = "start sampling a process that runs",
    .about = "Sampling begins, or goes on, in process PID, which runs with\n"
             "libsprof.so.\n",
    CONTROL(REQUEST_START, SOON),
};

const struct command cmd_control_stop = {
    .name = "stop",
    .summary = "stop sampling it, until start",
    .about = "Sampling stops in process PID until `sprofile start`. What was "
             "sampled\n"
             "stays, and is in the profile that is written in the end.\n",
    CONTROL(REQUEST_STOP, SOON),
};

const struct command cmd_control_dump = {
    .name = "dump",
    .summary = "let it write its profile so far",
    .about =
        "Process PID writes the profile of what was sampled so far, to the "
        "files\n"
        "that SPROF_OUTPUT names, and goes on. Prints their names. With\n"
        "SPROF_KEEP, which makes it a flight recorder, the profile has the "
        "last part.\n",
    CONTROL(REQUEST_WRITE, DUMP_SECONDS),
};
